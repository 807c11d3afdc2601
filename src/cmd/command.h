/* SPDX-License-Identifier: MIT
 *
 * Adding a command: a file src/cmd/NAME.c with a `const struct pd_usage pd_usage_NAME` and a `pd_cmd_NAME`, both declared
 * here; a row in the table of main.c; docs/man/pagededup-NAME.1; a shell test in tests/shell.  The test of help against
 * manual finds what is missing.
 *
 * A command gets argv with its own name first and returns the exit code: 0 done; 1 done, but damaged records were left
 * out; 2 could not be done.  It writes data to stdout or -o and talk to stderr.
 */
#ifndef PD_CMD_COMMAND_H
#define PD_CMD_COMMAND_H

#include "base/opt.h"
#include "base/terminal.h"

enum { PD_COMMANDS_MAX = 63 };
enum { PD_EXIT_DONE = 0, PD_EXIT_DAMAGED = 1, PD_EXIT_FAILED = 2 };

struct pd_command {
	const char *group;		/* a heading stands before the first of a group */
	const struct pd_usage *usage;
	int (*run)(int argc, char **argv);
	/* in its place with commands that speak of all commands */
	int (*run_about)(const struct pd_command *all, int argc, char **argv);
};

extern const struct pd_usage pd_usage_boilerplate, pd_usage_fp, pd_usage_match, pd_usage_cluster, pd_usage_apply, pd_usage_dedup,
	pd_usage_report, pd_usage_store, pd_usage_text, pd_usage_show, pd_usage_compare, pd_usage_why, pd_usage_eval,
	pd_usage_sample, pd_usage_estimate, pd_usage_info, pd_usage_dict, pd_usage_selftest,
	pd_usage_completion, pd_usage_version, pd_usage_help;

int pd_cmd_boilerplate(int argc, char **argv);
int pd_cmd_fp(int argc, char **argv);
int pd_cmd_match(int argc, char **argv);
int pd_cmd_cluster(int argc, char **argv);
int pd_cmd_apply(int argc, char **argv);
int pd_cmd_dedup(int argc, char **argv);
int pd_cmd_report(int argc, char **argv);
int pd_cmd_text(int argc, char **argv);
int pd_cmd_show(int argc, char **argv);
int pd_cmd_compare(int argc, char **argv);
int pd_cmd_why(int argc, char **argv);
int pd_cmd_eval(int argc, char **argv);
int pd_cmd_sample(int argc, char **argv);
int pd_cmd_estimate(int argc, char **argv);
int pd_cmd_store(int argc, char **argv);
int pd_cmd_info(int argc, char **argv);
int pd_cmd_dict(int argc, char **argv);
int pd_cmd_selftest(int argc, char **argv);
int pd_cmd_completion(const struct pd_command *all, int argc, char **argv);
int pd_cmd_version(int argc, char **argv);
int pd_cmd_help(const struct pd_command *all, int argc, char **argv);

/* By name, in a table that ends with a row without usage; NULL after saying which name is near. */
const struct pd_command *pd_command_find(const struct pd_command *all, const char *name, struct pd_log *log);
/* Says what went wrong and, for misuse, where help is; returns PD_EXIT_FAILED. */
int pd_command_failed(struct pd_log *log, const struct pd_err *e);
/* The exit code of a run that came back with `status`: negative and why; 0; or 1, done but damaged records were left out. */
int pd_command_exit(int status, struct pd_log *log, const struct pd_err *e);
/* --method=help: prints the methods with their parameters.  False: something else was said, or nothing. */
bool pd_command_methods_help(const char *method);
/* Parses; 0 go on, else the exit code + 1 (help was printed, or misuse was told). */
int pd_command_parse(const struct pd_usage *u, int argc, char **argv, void *options, int *first, struct pd_log *log);

#endif
