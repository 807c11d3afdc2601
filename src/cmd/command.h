/* SPDX-License-Identifier: MIT
 *
 * Adding a command: a file src/cmd/NAME.c with a `const struct pd_command pd_cmd_NAME`, declared here; its place in the
 * table of main.c; docs/man/pagededup-NAME.1; a shell test in tests/shell.  The test of help against
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
	const char *group;		/* heading of the list of commands; those of a group stand together */
	const struct pd_usage *usage;
	int (*run)(int argc, char **argv);
	/* instead of run, for what tells of all commands */
	int (*run_about)(const struct pd_command *const *all, int argc, char **argv);
};

extern const struct pd_command pd_cmd_boilerplate, pd_cmd_fp, pd_cmd_match, pd_cmd_cluster, pd_cmd_apply, pd_cmd_dedup, pd_cmd_decontaminate, pd_cmd_report,
	pd_cmd_store, pd_cmd_text, pd_cmd_show, pd_cmd_compare, pd_cmd_why, pd_cmd_eval, pd_cmd_sample, pd_cmd_estimate, pd_cmd_url, pd_cmd_sites, pd_cmd_link, pd_cmd_rank,
	pd_cmd_map, pd_cmd_reduce, pd_cmd_info, pd_cmd_dict, pd_cmd_selftest;

/* By name, in a table that ends with NULL; NULL after saying which name is near. */
const struct pd_command *pd_command_find(const struct pd_command *const *all, const char *name, struct pd_log *log);
/* Says what went wrong and, for misuse, where help is; returns PD_EXIT_FAILED. */
int pd_command_failed(struct pd_log *log, const struct pd_err *e);
/* The exit code of a run that came back with `status`: negative and why; 0; or 1, done but damaged records were left out. */
int pd_command_exit(int status, struct pd_log *log, const struct pd_err *e);
/* --method=help: prints the methods with their parameters.  False: something else was said, or nothing. */
bool pd_command_methods_help(const char *method);
/* Parses; 0 go on, else the exit code + 1 (help was printed, or misuse was reported). */
int pd_command_parse(const struct pd_usage *u, int argc, char **argv, void *options, int *first, struct pd_log *log);

#endif
