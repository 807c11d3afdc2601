/* SPDX-License-Identifier: MIT
 * pagededup dict: a word list -> a compiled dictionary for --dict. */
#include "base/buf.h"
#include "base/outfile.h"
#include "base/terminal.h"
#include "cmd/command.h"
#include "term/dict.h"

struct options {
	const char *output, *idf;
};

static const struct pd_opt opts[] = {
	{ .type = PD_OPT_TEXT, .letter = 'o', .name = "output", .arg = "FILE", .at = offsetof(struct options, output),
	  .help = "the dictionary to write; required" },
	{ .type = PD_OPT_TEXT, .name = "idf", .arg = "FILE", .at = offsetof(struct options, idf),
	  .help = "lines of 'word idf'" },
	PD_OPT_END,
};

static const struct pd_usage usage = {
	.name = "dict",
	.synopsis = "[OPTION]... -o FILE WORDS",
	.summary = "Compile a list of words into a dictionary for --dict.",
	.text = "WORDS holds lines of 'word frequency part-of-speech', as jieba's dict.txt does.",
	.example = "pagededup dict -o mine.dict words.txt && pagededup fp --dict=mine.dict crawl.warc.gz",
	.opts = opts,
};

static int write_bytes(const struct options *o, struct pd_span bytes, struct pd_err *e)
{
	struct pd_outfile f;
	int status = pd_outfile_open(&f, o->output, e);
	if (status)
		return status;
	status = pd_refuse_terminal(f.f, "a dictionary", e);
	if (status) {
		pd_outfile_abandon(&f);
		return status;
	}
	fwrite(bytes.p, 1, bytes.n, f.f);
	return pd_outfile_commit(&f, e);
}

static int compile(const struct options *o, const char *words, struct pd_err *e)
{
	struct pd_buf bytes = { 0 };
	int status = pd_dict_compile(words, o->idf, &bytes, e);
	if (!status)
		status = write_bytes(o, pd_buf_span(&bytes), e);
	pd_buf_release(&bytes);
	return status;
}

static int run_dict(int argc, char **argv)
{
	struct options o = { 0 };
	struct pd_log log;
	struct pd_err e;
	int first;
	pd_log_init(&log, "dict");
	int code = pd_command_parse(&usage, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	int status = argc - first != 1 ? pd_fail(&e, PD_ERR_USAGE, "missing operand WORDS: one list of words") :
		     !o.output	       ? pd_fail(&e, PD_ERR_USAGE, "missing required option -o FILE, the dictionary to write") :
					 compile(&o, argv[first], &e);
	return status ? pd_command_failed(&log, &e) : PD_EXIT_DONE;
}

const struct pd_command pd_cmd_dict = { "Other", &usage, run_dict };
