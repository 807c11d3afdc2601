/* SPDX-License-Identifier: MIT
 * pagededup selftest. */
#include "cmd/command.h"
#include "tools/inspect.h"

struct selftest_options {
	bool all;
};

/* clang-format off */
static const struct pd_opt opts[] = {
	{ .type = PD_OPT_FLAG, .name = "long", .at = offsetof(struct selftest_options, all),
	  .help = "also make fingerprints of about seventy pages of many charsets and kinds" },
	PD_OPT_END
};
/* clang-format on */

static const struct pd_usage usage = {
	.name = "selftest",
	.synopsis = "[--long]",
	.summary = "Check that the program works on this machine: fingerprints, charsets, dictionary, matching.",
	.text = "Exit 0: all is well; 2: what is missing or differs is named.",
	.example = "pagededup selftest && pagededup fp crawl.warc.gz",
	.opts = opts,
	.no_operands = true,
};

/* data.S: pages, each with the expected output of `show --stage=signature`. */
extern const char pd_cmd_golden[] __attribute__((visibility("hidden")));
extern const char pd_cmd_golden_end[] __attribute__((visibility("hidden")));

static int run_selftest(int argc, char **argv)
{
	struct selftest_options o = { 0 };
	struct pd_log log;
	int first;
	pd_log_init(&log, "selftest");
	int code = pd_command_parse(&usage, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	return pd_selftest(pd_span(pd_cmd_golden, o.all ? (size_t)(pd_cmd_golden_end - pd_cmd_golden) : 0)) ? PD_EXIT_DONE
													    : PD_EXIT_FAILED;
}

const struct pd_command pd_cmd_selftest = { "Other", &usage, run_selftest };
