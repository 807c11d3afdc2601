/* SPDX-License-Identifier: MIT
 * pagededup version: this program's version, how it was built, with which libraries. */
#include "cmd/command.h"

#ifdef __clang__
#define PD_COMPILER "clang"
#else
#define PD_COMPILER "gcc"
#endif

static const struct pd_opt opts[] = { PD_OPT_END };

const struct pd_usage pd_usage_version = {
	.name = "version",
	.synopsis = "",
	.summary = "Print the version, the compiler and the versions of the libraries.",
	.example = "pagededup version",
	.opts = opts,
	.no_operands = true,
};

int pd_cmd_version(int argc, char **argv)
{
	struct pd_log log;
	int first;
	pd_log_init(&log, "version");
	int code = pd_command_parse(&pd_usage_version, argc, argv, NULL, &first, &log);
	if (code)
		return code - 1;
	printf("pagededup %s\nbuilt with %s %s\nlibraries: %s\n", PD_VERSION, PD_COMPILER, __VERSION__, PD_LIBRARIES);
	return PD_EXIT_DONE;
}
