/* SPDX-License-Identifier: MIT
 *
 * The one table of commands: it is used for dispatch, help and completions, and compared with the manual.
 */
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/sandbox.h"
#include "base/threads.h"
#include "cmd/command.h"
#include "page/html.h"
#include "text/text.h"

#ifdef __clang__
#define PD_COMPILER "clang"
#else
#define PD_COMPILER "gcc"
#endif

/* --- commands that describe all commands and the program --- */

static const struct pd_opt no_opts[] = { PD_OPT_END };

static const struct pd_usage help_usage = {
	.name = "help",
	.synopsis = "[COMMAND]",
	.summary = "List the commands, or show the help of one.",
	.example = "pagededup help match",
	.opts = no_opts,
};

static void list(const struct pd_command *const *all)
{
	puts("usage: pagededup COMMAND [OPTION]... [INPUT]...\n"
	     "Finds near-duplicate pages in crawled dumps.");
	const char *group = NULL;
	for (const struct pd_command *const *c = all; *c; c++) {
		if (!group || strcmp((*c)->group, group))
			printf("\n%s:\n", (*c)->group);
		group = (*c)->group;
		printf("  %-13s %s\n", (*c)->usage->name, (*c)->usage->summary);
	}
	puts("\nexample: pagededup fp crawl.warc.gz | pagededup match | pagededup cluster > verdicts.tsv\n"
	     "'pagededup COMMAND --help' lists a command's options; --no-sandbox is one of every command.");
}

static int run_help(const struct pd_command *const *all, int argc, char **argv)
{
	struct pd_log log;
	int first;
	pd_log_init(&log, "help");
	int code = pd_command_parse(&help_usage, argc, argv, NULL, &first, &log);
	if (code)
		return code - 1;
	if (argc - first > 1) {
		struct pd_err e;
		pd_fail(&e, PD_ERR_USAGE, "extra operand '%s': help takes one COMMAND", argv[first + 1]);
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

static const struct pd_command help_command = { "Other", &help_usage, .run_about = run_help };

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static const struct pd_usage completion_usage = {
	.name = "completion",
	.synopsis = "bash|zsh|fish",
	.summary = "Print completions for a shell: commands, options and their values.",
	.example = "pagededup completion bash > /etc/bash_completion.d/pagededup",
	.words = shells,
	.opts = no_opts,
};

static void print_words(const struct pd_usage *u, const char *before, const char *after)
{
	for (const struct pd_opt *o = u->opts; !pd_opt_at_end(o); o++) {
		if (o->type == PD_OPT_HEADING || !o->name)
			continue;
		printf("%s--%s%s", before, o->name, after);
		if (o->type == PD_OPT_SWITCH)
			printf("%s--no-%s%s", before, o->name, after);
	}
	printf("%s--sandbox%s%s--no-sandbox%s%s--help%s", before, after, before, after, before, after);
}

static void print_commands(const struct pd_command *const *all, const char *before, const char *after)
{
	for (const struct pd_command *const *c = all; *c; c++)
		printf("%s%s%s", before, (*c)->usage->name, after);
}

static void print_list(const char *const *words)
{
	for (int i = 0; words[i]; i++)
		printf("%s%s", i ? " " : "", words[i]);
}

/* Possible words after the command, and after an option. */
static void bash_choices(const struct pd_usage *u)
{
	if (u->words) {
		printf("\t%s:%s) words='", u->name, u->name);
		print_list(u->words);
		puts("' ;;");
	}
	for (const struct pd_opt *o = u->opts; !pd_opt_at_end(o); o++) {
		if (o->type != PD_OPT_CHOICE)
			continue;
		printf("\t%s:--%s) words='", u->name, o->name);
		print_list(o->choices);
		puts("' ;;");
	}
}

/* zsh reads bash completions once bashcompinit is loaded, so one script serves both. */
static void print_bash(const struct pd_command *const *all)
{
	puts("_pagededup() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=\n"
	     "\tCOMPREPLY=()\n"
	     "\t[ \"$cur\" = = ] && cur=\n"
	     "\t[ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}");
	printf("\tif [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W '");
	print_commands(all, "", " ");
	puts("' -- \"$cur\")); return; fi\n\tcase $command:$prev in");
	for (const struct pd_command *const *c = all; *c; c++)
		bash_choices((*c)->usage);
	puts("\tesac\n"
	     "\tif [ -n \"$words\" ] && [[ $cur != -* ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return; fi\n"
	     "\t[[ $cur == -* ]] || return\n"
	     "\tcase $command in");
	for (const struct pd_command *const *c = all; *c; c++) {
		printf("\t%s) words='", (*c)->usage->name);
		print_words((*c)->usage, "", " ");
		puts("' ;;");
	}
	puts("\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _pagededup pagededup");
}

static void print_zsh(const struct pd_command *const *all)
{
	puts("#compdef pagededup\nautoload -U +X bashcompinit && bashcompinit");
	print_bash(all);
}

/* Text between single quotes in fish: only \ and ' are special. */
static void print_quoted(const char *z)
{
	putchar('\'');
	for (; *z; z++) {
		if (*z == '\'' || *z == '\\')
			putchar('\\');
		putchar(*z);
	}
	putchar('\'');
}

static void fish_option(const char *command, const struct pd_opt *o)
{
	printf("complete -c pagededup -n '__fish_seen_subcommand_from %s'", command);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->name)
		printf(" -l %s", o->name);
	if (o->type == PD_OPT_CHOICE) {
		printf(" -x -a '");
		print_list(o->choices);
		putchar('\'');
	} else if (o->arg) {
		printf(" -r");
	}
	printf(" -d ");
	print_quoted(o->help);
	putchar('\n');
}

/* Until one of them is there. */
static void fish_words(const struct pd_usage *u)
{
	if (!u->words)
		return;
	printf("complete -c pagededup -x -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from ", u->name);
	print_list(u->words);
	printf("' -a '");
	print_list(u->words);
	puts("'");
}

static void print_fish(const struct pd_command *const *all)
{
	for (const struct pd_command *const *c = all; *c; c++) {
		printf("complete -c pagededup -n __fish_use_subcommand -a %s -d ", (*c)->usage->name);
		print_quoted((*c)->usage->summary);
		putchar('\n');
		fish_words((*c)->usage);
		for (const struct pd_opt *o = (*c)->usage->opts; !pd_opt_at_end(o); o++)
			if (o->type != PD_OPT_HEADING)
				fish_option((*c)->usage->name, o);
		fish_option((*c)->usage->name, pd_opt_common);
	}
}

static int run_completion(const struct pd_command *const *all, int argc, char **argv)
{
	static void (*const print[])(const struct pd_command *const *) = { print_bash, print_zsh, print_fish }; /* as shells */
	struct pd_log log;
	struct pd_err e;
	int first;
	pd_log_init(&log, "completion");
	int code = pd_command_parse(&completion_usage, argc, argv, NULL, &first, &log);
	if (code)
		return code - 1;
	for (size_t i = 0; argc - first == 1 && shells[i]; i++) {
		if (!strcmp(argv[first], shells[i])) {
			print[i](all);
			return PD_EXIT_DONE;
		}
	}
	if (argc - first == 1)
		pd_fail(&e, PD_ERR_USAGE, "unknown shell '%s': give bash, zsh or fish", argv[first]);
	else if (argc == first)
		pd_fail(&e, PD_ERR_USAGE, "missing operand: bash, zsh or fish");
	else
		pd_fail(&e, PD_ERR_USAGE, "extra operand '%s': completion takes one shell", argv[first + 1]);
	return pd_command_failed(&log, &e);
}

static const struct pd_command completion_command = { "Other", &completion_usage, .run_about = run_completion };

/* LICENSE and THIRD-PARTY (cmd/data.S). */
extern const char pd_cmd_licenses[] __attribute__((visibility("hidden")));
extern const char pd_cmd_licenses_end[] __attribute__((visibility("hidden")));

struct version_options {
	bool licenses;
};

static const struct pd_opt version_opts[] = { { .type = PD_OPT_FLAG,
						.name = "licenses",
						.help = "print the license and the notices of what the program contains",
						.at = offsetof(struct version_options, licenses) },
					      PD_OPT_END };

static const struct pd_usage version_usage = {
	.name = "version",
	.synopsis = "[OPTION]...",
	.summary = "Print the version, the compiler and the versions of the libraries.",
	.example = "pagededup version",
	.opts = version_opts,
	.no_operands = true,
};

static int run_version(int argc, char **argv)
{
	struct pd_log log;
	int first;
	struct version_options o = { 0 };
	pd_log_init(&log, "version");
	int code = pd_command_parse(&version_usage, argc, argv, &o, &first, &log);
	if (code)
		return code - 1;
	if (o.licenses) {
		fwrite(pd_cmd_licenses, 1, (size_t)(pd_cmd_licenses_end - pd_cmd_licenses), stdout);
		return PD_EXIT_DONE;
	}
	struct pd_err e;
	printf("pagededup %s\nbuilt with %s %s\nlibraries: %s\n", PD_VERSION, PD_COMPILER, __VERSION__, PD_LIBRARIES);
	if (pd_sandbox_enter(&e))
		printf("sandbox: off: %s\n", e.text);
	else
		printf("sandbox: on\n");
	return PD_EXIT_DONE;
}

static const struct pd_command version_command = { "Other", &version_usage, run_version };

/* --- all --- */

static const struct pd_command *const commands[] = {
	&pd_cmd_boilerplate,   &pd_cmd_fp,	    &pd_cmd_match,    &pd_cmd_cluster,	&pd_cmd_apply, &pd_cmd_dedup,
	&pd_cmd_decontaminate, &pd_cmd_report,	    &pd_cmd_store,    &pd_cmd_link,	&pd_cmd_rank,  &pd_cmd_url,
	&pd_cmd_sites,	       &pd_cmd_map,	    &pd_cmd_reduce,   &pd_cmd_text,	&pd_cmd_show,  &pd_cmd_compare,
	&pd_cmd_why,	       &pd_cmd_eval,	    &pd_cmd_sample,   &pd_cmd_estimate, &pd_cmd_info,  &pd_cmd_dict,
	&pd_cmd_selftest,      &completion_command, &version_command, &help_command,	NULL,
};

/* Standard output is flushed and checked once, after any command: a full disk must not look like success. */
static int finish(int code, const char *command)
{
	struct pd_log log;
	struct pd_err e;
	pd_log_init(&log, command);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	if (code == PD_EXIT_FAILED) /* reported already */
		return code;
	pd_fail_errno(&e, "cannot write standard output");
	return pd_command_failed(&log, &e);
}

/* If a library cannot allocate memory, the program ends as well: a half-parsed page must not look like a short one. */
static void own_memory(void)
{
	pd_html_own_memory();
	pd_json_own_memory();
	pd_text_own_memory();
}

struct call {
	int argc;
	char **argv;
	int code;
};

static void run_command(void *ctx)
{
	struct call *call = ctx;
	int argc = call->argc;
	char **argv = call->argv;
	struct pd_log log;
	pd_log_init(&log, NULL);
	if (argc < 2) {
		struct pd_err e;
		pd_fail(&e, PD_ERR_USAGE, "missing command");
		call->code = pd_command_failed(&log, &e);
		return;
	}
	const struct pd_command *c = pd_command_find(commands, argv[1], &log);
	call->code = PD_EXIT_FAILED;
	if (!c)
		return;
	call->code = c->run ? c->run(argc - 1, argv + 1) : c->run_about(commands, argc - 1, argv + 1);
	call->code = finish(call->code, c->usage->name);
}

int main(int argc, char **argv)
{
	struct call call = { argc, argv, PD_EXIT_FAILED };
	pd_standard_open();
	pd_unfinished_install();
	own_memory();
	pd_run_on_stack(run_command, &call);
	return call.code;
}
