/* SPDX-License-Identifier: MIT
 *
 * pagededup tune: a run and labels -> the settings that keep the share of wrong removals below a limit.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "cmd/walk.h"
#include "row/estimate.h"
#include "run/journal.h"
#include "tools/inspect.h"
#include "tools/report.h"
#include "tools/tune.h"

struct tune_options {
	struct pd_walk_options walk; /* first: the options of pages are parsed into it */
	const char *run, *verdicts;
	char **labels;
	int n_labels, number, seed;
	bool suspects, list;
	double max_wrong, confidence;
};

#define AT(member) .at = offsetof(struct tune_options, member)

static int add_labels(void *options, const char *arg, struct pd_err *e)
{
	struct tune_options *o = options;
	for (int i = 0; i < o->n_labels; i++) /* options are parsed more than once */
		if (o->labels[i] == arg)
			return PD_OK;
	o->labels = pd_realloc(o->labels, (size_t)(o->n_labels + 1) * sizeof *o->labels);
	o->labels[o->n_labels++] = (char *)arg;
	return PD_OK;
}

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Results" },
	{ .type = PD_OPT_TEXT, .name = "run", .arg = "DIR", AT(run),
	  .help = "the 'dedup' run in DIR: its verdicts and its options" },
	{ .type = PD_OPT_TEXT, .letter = 'V', .name = "verdicts", .arg = "FILE", AT(verdicts),
	  .help = "output of 'pagededup cluster --shingles'" },
	{ .type = PD_OPT_HEADING, .name = "The limit" },
	{ .type = PD_OPT_SHARE, .name = "max-wrong", .arg = "P%", AT(max_wrong), .min = .0001, .max = .9999, .help = "largest share of removals that may be wrong (1%)" },
	{ .type = PD_OPT_SHARE, .name = "confidence", .rare = true, .arg = "P%", AT(confidence), .min = .5, .max = .9999,
	  .help = "with this probability the promise holds (95%)" },
	{ .type = PD_OPT_FLAG, .name = "suspects", AT(suspects), .help = "also try to remove suspects" },
	{ .type = PD_OPT_HEADING, .name = "Labels" },
	{ .type = PD_OPT_CALL, .name = "labels", .arg = "FILE", .call = add_labels,
	  .help = "saved labels; may be repeated; without, the page to label is written" },
	{ .type = PD_OPT_INT, .letter = 'n', .name = "number", .arg = "N", AT(number), .min = 1, .max = 100000,
	  .help = "removals on the page (half as many again as are needed)" },
	{ .type = PD_OPT_INT, .name = "seed", .rare = true, .arg = "N", AT(seed), .min = 0, .max = 2147483647, .help = "random seed (1)" },
	{ .type = PD_OPT_FLAG, .name = "list", .rare = true, AT(list), .help = "write the removals as a table to label, not as a page" },
	PD_WALK_PAGE_OPTS, PD_WALK_TOPIC_OPTS,
	{ .type = PD_OPT_HEADING, .name = "Output" },
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", PD_AT(output), .help = "write FILE, not stdout" },
	{ .type = PD_OPT_FLAG, .letter = 'q', .name = "quiet", PD_AT(quiet), .help = "print no summary line" },
	PD_OPT_END,
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "tune",
	.synopsis = "--run=DIR | --verdicts=FILE [OPTION]...",
	.summary = "Find settings with at most 1% wrong removals, from a few labels.",
	.text = "Without --labels it writes a page: open it in a browser, compare some removed pages with the pages\n"
		"kept, and save the labels.  With --labels it writes the settings that remove most.",
	.basics = " run verdicts max-wrong suspects labels number output ",
	.example = "pagededup tune --run=clean/ --max-wrong=1% -o label.html",
	.opts = opts,
	.no_operands = true,
};

/* --- the page to label --- */

static int write_list(const char *output, const struct pd_sampled_pair *pairs, size_t n, struct pd_err *e)
{
	struct pd_outfile out = { 0 };
	int status = pd_outfile_open(&out, output, e);
	if (status)
		return status;
	fputs("# pagededup labels 1 |\n#label\tid_a\tid_b\turl_a\turl_b\n", out.f);
	for (size_t i = 0; i < n; i++)
		fprintf(out.f, "?\t%s\n", pairs[i].text);
	return pd_outfile_close(&out, PD_OK, e);
}

static int write_page(const struct tune_options *o, const struct pd_tune *t, uint64_t needed, struct pd_log *log, struct pd_err *e)
{
	struct pd_pick_texts texts = { .walk = &o->walk, .log = log };
	struct pd_sampled_pair *pairs = pd_alloc((t->n + 1) * sizeof *pairs);
	struct pd_label_counts counts = { 0 };
	size_t n = 0, want = o->number ? (size_t)o->number : (size_t)(needed + needed / 2 + 20);
	for (size_t i = 0; i < t->n && n < want; i++)
		if (!t->removals[i].equal && (o->suspects || !t->removals[i].suspect))
			pairs[n++] = t->pairs[i];
	int status = PD_OK;
	if (o->list)
		status = write_list(o->walk.output, pairs, n, e);
	else
		status = pd_tables_open(&texts.tables, &o->walk.page, e);
	if (!status && !o->list) {
		struct pd_label_options label = {
			.pairs = pairs, .n = n, .output = o->walk.output, .fetch = pd_pick_text, .ctx = &texts
		};
		status = pd_label_write(&label, log, &counts, e);
	}
	if (!status) {
		struct pd_buf line = { 0 };
		pd_buf_count(&line, n, "removal");
		pd_buf_printf(&line, " to label; if none is wrong, %" PRIu64 " label%s enough for at most %g%% wrong%s%s", needed,
			      needed == 1 ? " is" : "s are", 100 * o->max_wrong,
			      o->walk.output && !o->list ? "; open in a browser: " : "",
			      o->walk.output && !o->list ? o->walk.output : "");
		pd_log_note(log, "%s", line.p);
		pd_buf_release(&line);
	}
	pd_tables_release(&texts.tables);
	free(pairs);
	return status ? status : counts.damaged;
}

/* --- the settings --- */

static void add_promise(const struct tune_options *o, const struct pd_tune_setting *s, struct pd_buf *out)
{
	pd_buf_add_z(out, "at most ");
	pd_estimate_add_percent(s->bound, out);
	pd_buf_add_z(out, " of ");
	pd_buf_count(out, s->removed, "removal");
	pd_buf_printf(out, " are wrong (%g%%), from ", 100 * o->confidence);
	pd_buf_count(out, s->labelled, "label");
	if (s->labelled)
		pd_buf_printf(out, ", %" PRIu64 " of them wrong or unsure", s->wrong);
}

static int write_settings(const struct tune_options *o, const struct pd_tune *t, struct pd_log *log, struct pd_err *e)
{
	struct pd_tune_setting s[PD_TUNE_SETTINGS];
	struct pd_buf text = { 0 }, promise = { 0 };
	struct pd_outfile out = { 0 };
	int best = pd_tune_choose(t->removals, t->n, o->max_wrong, o->confidence, o->suspects, s);
	pd_buf_add_z(&text, "# pagededup tune: ");
	if (best >= 0)
		add_promise(o, &s[best], &promise);
	else
		pd_buf_printf(&promise, "no setting is known to have at most %g%% wrong removals", 100 * o->max_wrong);
	pd_buf_add_span(&text, pd_buf_span(&promise));
	pd_buf_add_z(&text, "\n#\n# largest loss   removed  different texts  labelled  wrong  at most wrong\n");
	for (int i = 0; i < (o->suspects ? PD_TUNE_SETTINGS : PD_TUNE_SUSPECTS); i++) {
		if (i < PD_TUNE_RUN)
			pd_buf_printf(&text, "# %-14g", pd_tune_limits[i]);
		else
			pd_buf_printf(&text, "# %-14s", i == PD_TUNE_RUN ? "as in the run" : "and suspects");
		pd_buf_printf(&text, " %8" PRIu64 " %16" PRIu64 " %9" PRIu64 " %6" PRIu64 " %13.2f%%%s\n", s[i].removed,
			      s[i].unequal, s[i].labelled, s[i].wrong, 100 * s[i].bound, s[i].accepted ? "  accepted" : "");
	}
	if (best >= 0 && best < PD_TUNE_RUN)
		pd_buf_printf(&text, "max-loss = %g\n", pd_tune_limits[best]);
	if (best == PD_TUNE_SUSPECTS)
		pd_buf_add_z(&text, "remove-suspects = true\n");
	if (best >= 0) {
		struct pd_estimate estimate = { s[best].bound, o->confidence, s[best].labelled, s[best].wrong,
						pd_tune_sum(t, best) };
		pd_buf_printf(&text, "max-wrong = \"%g%%\"\nestimate = \"", 100 * o->max_wrong);
		pd_estimate_print(&estimate, &text);
		pd_buf_add_z(&text, "\"\n");
	}
	int status = pd_outfile_open(&out, o->walk.output, e);
	if (!status) {
		fwrite(text.p, 1, text.n, out.f);
		status = pd_outfile_close(&out, PD_OK, e);
	}
	if (!status) {
		pd_log_note(log, "%s", promise.p);
		if (t->twice)
			pd_log_note(log,
				    "%" PRIu64 " removals were labelled twice, %" PRIu64
				    " of them differently; these count as wrong",
				    t->twice, t->disagree);
		if (t->unknown)
			pd_log_error(log, "%" PRIu64 " labels are about other removals than those of %s; they are ignored",
				     t->unknown, o->verdicts);
	}
	if (!status && best < 0) {
		uint64_t needed = pd_tune_needed(&s[PD_TUNE_RUN], o->max_wrong, o->confidence);
		pd_log_error(log,
			     s[PD_TUNE_RUN].wrong ? "label more removals, or permit a larger share with --max-wrong"
						  : "label more removals; if none is wrong, %" PRIu64 " labels are enough",
			     needed);
	}
	pd_buf_release(&text);
	pd_buf_release(&promise);
	return status ? status : best < 0;
}

static int tune(struct tune_options *o, struct pd_log *log, struct pd_err *e)
{
	struct pd_tune t;
	struct pd_tune_options in = { .verdicts = o->verdicts,
				      .labels = o->labels,
				      .n_labels = o->n_labels,
				      .suspects = o->suspects,
				      .seed = (uint64_t)o->seed };
	int status = pd_tune_read(&t, &in, e);
	if (status)
		return status;
	struct pd_tune_setting s[PD_TUNE_SETTINGS];
	pd_tune_choose(t.removals, t.n, o->max_wrong, o->confidence, o->suspects, s);
	uint64_t needed = pd_tune_needed(&s[PD_TUNE_RUN], o->max_wrong, o->confidence);
	if (!s[PD_TUNE_RUN].removed)
		status = pd_fail(e, PD_ERR_NOT_FOUND, "%s removes no page", o->verdicts);
	else
		status = o->n_labels || !needed ? write_settings(o, &t, log, e) : write_page(o, &t, needed, log, e);
	pd_tune_release(&t);
	return status;
}

static int run_tune(int argc, char **argv)
{
	struct tune_options o = { .seed = 1, .max_wrong = .01, .confidence = .95 }, first_pass = { 0 };
	struct pd_buf words = { 0 };
	char *verdicts = NULL;
	struct pd_log log;
	struct pd_err e;
	int first, status = PD_OK;
	pd_log_init(&log, "tune");
	int code = pd_command_parse(&usage, argc, argv, &first_pass, &first, &log);
	free(first_pass.labels);
	if (code)
		return code - 1;
	char **all = first_pass.run ? pd_walk_run_options(&usage, first_pass.run, &argc, argv, &words, &e) : argv;
	code = all ? pd_walk_parse(&usage, PD_METHOD_BOTH, argc, all, &o.walk, &first, &log) : 1 + pd_command_failed(&log, &e);
	if (!code) {
		if (o.run && o.verdicts)
			status = pd_fail(&e, PD_ERR_USAGE, "--run and --verdicts cannot be combined");
		else if (!o.run && !o.verdicts)
			status = pd_fail(&e, PD_ERR_USAGE, "missing required option --run=DIR, or --verdicts=FILE");
		if (o.run && !o.verdicts)
			o.verdicts = verdicts = pd_dedup_folder_path(o.run, "verdicts.tsv");
		if (!status)
			status = tune(&o, &log, &e);
		code = 1 + pd_command_exit(status, &log, &e);
	}
	if (all != argv)
		free(all);
	free(verdicts);
	free(o.labels);
	pd_buf_release(&words);
	return code - 1;
}

const struct pd_command pd_cmd_tune = { &usage, run_tune };
