/* SPDX-License-Identifier: MIT
 *
 * pagededup estimate: a sample of the dumps -> an estimate of results, time and memory of a complete run.
 */
#include "cmd/walk.h"
#include "tools/inspect.h"

struct estimate_options {
	struct pd_walk_options walk; /* first: the options of pages are parsed into it */
	int sample;
};

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_HEADING, .name = "Sample" },
	{ .type = PD_OPT_INT, .name = "sample", .arg = "N", .at = offsetof(struct estimate_options, sample), .min = 16, .max = 20000,
	  .help = "sample about N pages (1000)" },
	{ .type = PD_OPT_INT, .letter = 'j', .name = "jobs", .arg = "N", PD_AT(jobs), .min = 1, .max = 1024,
	  .help = "threads of the run that is estimated (all cores)" },
	PD_WALK_INPUT_OPTS, PD_WALK_TOPIC_OPTS, PD_WALK_SIGN_OPTS(true), PD_OPT_END,
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "estimate",
	.synopsis = "[OPTION]... [INPUT]...",
	.summary = "Estimate results and cost of a run from a sample.",
	.text = "INPUT: as for 'pagededup fp'; give the options that the run will have.",
	.example = "pagededup estimate crawl-*.warc.gz",
	.opts = opts,
};

static void log_left_out(void *ctx, const struct pd_read_damage *d)
{
	pd_read_damage_tell(d, "left out", ctx);
}

static int run_estimate(int argc, char **argv)
{
	struct estimate_options o = { .sample = 1000 };
	struct pd_log log;
	int first;
	pd_log_init(&log, "estimate");
	int code = pd_walk_parse(&usage, PD_METHOD_SIGNS, argc, argv, &o.walk, &first, &log);
	if (code)
		return code - 1;
	struct pd_reader_options in = pd_walk_inputs(&o.walk, argv + first, argc - first);
	in.damage = log_left_out;
	in.damage_ctx = &log;
	pd_local_buf out = { 0 };
	struct pd_err e;
	bool damaged;
	int status = pd_estimate(&o.walk, &in, o.sample, &out, &damaged, &e);
	fwrite(pd_buf_z(&out), 1, out.n, stdout);
	pd_log_many_end(&log);
	code = status ? pd_command_failed(&log, &e) : damaged ? PD_EXIT_DAMAGED : PD_EXIT_DONE;
	return code;
}

const struct pd_command pd_cmd_estimate = { &usage, run_estimate };
