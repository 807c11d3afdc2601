/* SPDX-License-Identifier: MIT
 *
 * pagededup why: the verdict about a page, and the pages through which it is a duplicate.
 */
#include "base/terminal.h"
#include "cmd/command.h"

#include <stdlib.h>

#include "run/journal.h"
#include "tools/inspect.h"

struct why_options {
	struct pd_why_options why;
	const char *run;
	int format;
};

#define AT(member) .at = offsetof(struct why_options, member)

static const char *const formats[] = { "text", "jsonl", NULL };

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Page" },
	{ .type = PD_OPT_TEXT, .name = "url", .arg = "URL", AT(why.url), .help = "the page of this URL, instead of an id" },
	{ .type = PD_OPT_HEADING, .name = "Files" },
	{ .type = PD_OPT_TEXT, .letter = 'V', .name = "verdicts", .arg = "FILE", AT(why.verdicts), .help = "output of 'pagededup cluster' or 'store'" },
	{ .type = PD_OPT_TEXT, .name = "run", .arg = "DIR", AT(run), .help = "use the verdicts of the 'dedup' run in DIR" },
	{ .type = PD_OPT_TEXT, .letter = 'P', .name = "pairs", .arg = "FILE", AT(why.pairs),
	  .help = "output of 'pagededup match': also list pages near it" },
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_CHOICE, .name = "format", .arg = "NAME", AT(format), .choices = formats,
	  .help = "text (default), or jsonl: a line for each step" },
	PD_OPT_END,
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "why",
	.synopsis = "[OPTION]... --verdicts=FILE ID | --url=URL",
	.summary = "Explain a page's verdict: which page it duplicates, and why that one is kept.",
	.text = "ID is what 'pagededup fp' printed.  A page that the verdicts do not name is kept.",
	.example = "pagededup why crawl.warc.gz:53120 --verdicts=verdicts.tsv --pairs=pairs.tsv",
	.opts = opts,
};

static int check_why(const struct why_options *o, int n_ids, struct pd_err *e)
{
	if (n_ids + (o->why.url != NULL) != 1)
		return pd_fail(e, PD_ERR_USAGE,
			       n_ids ? "too many operands: why takes one page, by its id or by --url"
				     : "missing operand ID, or option --url=URL");
	if (!o->why.verdicts)
		return pd_fail(e, PD_ERR_USAGE, "missing required option --verdicts=FILE, or --run=DIR");
	if (!strcmp(o->why.verdicts, "-"))
		return pd_fail(e, PD_ERR_USAGE, "--verdicts needs a file: it is read twice");
	return PD_OK;
}

static int why(const struct why_options *o, struct pd_log *log, struct pd_err *e)
{
	struct pd_buf out = { 0 };
	int status = pd_why(&o->why, o->format, &out, e);
	pd_print(stdout, pd_buf_span(&out), NULL, PD_COLOR_NEVER);
	pd_buf_release(&out);
	if (status == 1)
		pd_log_error(log, "%s", e->text);
	return status;
}

static int run_why(int argc, char **argv)
{
	struct why_options o = { 0 };
	struct pd_log log;
	struct pd_err e;
	int first;
	pd_log_init(&log, "why");
	int code = pd_command_parse(&usage, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	char *verdicts = o.run && !o.why.verdicts ? pd_dedup_folder_path(o.run, "verdicts.tsv") : NULL;
	if (verdicts)
		o.why.verdicts = verdicts;
	int status = o.run && !verdicts ? pd_fail(&e, PD_ERR_USAGE, "--run and --verdicts cannot be combined")
					: check_why(&o, argc - first, &e);
	o.why.id = o.why.url ? NULL : argv[first];
	if (!status)
		status = why(&o, &log, &e);
	free(verdicts);
	return pd_command_exit(status, &log, &e);
}

const struct pd_command pd_cmd_why = { "Inspecting and measuring", &usage, run_why };
