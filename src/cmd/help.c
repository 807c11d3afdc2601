/* SPDX-License-Identifier: MIT
 * pagededup help: the list of commands, or one command's help. */
#include "cmd/command.h"

static const struct pd_opt opts[] = { PD_OPT_END };

const struct pd_usage pd_usage_help = {
	.name = "help",
	.synopsis = "[COMMAND]",
	.summary = "List the commands, or show the help of one.",
	.example = "pagededup help match",
	.opts = opts,
};

static void list(const struct pd_command *all)
{
	puts("usage: pagededup COMMAND [OPTION]... [INPUT]...\n"
	     "Finds near-duplicate pages in crawled dumps.");
	const char *group = NULL;
	for (const struct pd_command *c = all; c->usage; c++) {
		if (c->group != group)
			printf("\n%s:\n", c->group);
		group = c->group;
		printf("  %-10s %s\n", c->usage->name, c->usage->summary);
	}
	puts("\nexample: pagededup fp crawl.warc.gz | pagededup match | pagededup cluster > verdicts.tsv\n"
	     "'pagededup COMMAND --help' tells a command's options.");
}

int pd_cmd_help(const struct pd_command *all, int argc, char **argv)
{
	struct pd_log log;
	int first;
	pd_log_init(&log, "help");
	int code = pd_command_parse(&pd_usage_help, argc, argv, NULL, &first, &log);
	if (code)
		return code - 1;
	if (argc - first > 1) {
		struct pd_err e;
		pd_fail(&e, PD_ERR_USAGE, "one command at a time");
		return pd_command_failed(&log, &e);
	}
	if (first == argc) {
		list(all);
		return PD_EXIT_DONE;
	}
	const struct pd_command *c = pd_command_find(all, argv[first], &log);
	if (!c)
		return PD_EXIT_FAILED;
	pd_opt_help(c->usage, false, stdout);
	return PD_EXIT_DONE;
}
