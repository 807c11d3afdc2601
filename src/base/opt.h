/* SPDX-License-Identifier: MIT
 *
 * Command lines from one table per command: the same table parses (getopt_long), prints `--help` and is what the man
 * page is held against.  A row says where its value goes (offset into the command's option struct) and of what type.
 */
#ifndef PD_BASE_OPT_H
#define PD_BASE_OPT_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

enum pd_opt_type {
	PD_OPT_HEADING,		/* a line in --help, nothing else */
	PD_OPT_FLAG,		/* bool: --name sets it */
	PD_OPT_SWITCH,		/* int -1/0/1: --name and --no-name */
	PD_OPT_INT,		/* int within min..max */
	PD_OPT_SIZE,		/* size_t, with K, M, G (1024) */
	PD_OPT_REAL,		/* double within min..max */
	PD_OPT_TEXT,		/* const char *, borrowed from argv */
	PD_OPT_CHOICE,		/* int: index into `choices` */
	PD_OPT_CALL,		/* `call` does it */
};

struct pd_opt {
	enum pd_opt_type type;
	char letter;			/* 0: none */
	const char *name;		/* "shingle"; NULL: letter only; for a heading its text */
	const char *arg;		/* "N": shown in --help */
	const char *help;		/* one line, without the default */
	bool rare;			/* seldom wanted: listed by --help=all alone */
	bool same_result;		/* any value gives the same result: a run may be resumed with another */
	size_t at;			/* offsetof(struct …, member) */
	double min, max;		/* INT, REAL */
	const char *const *choices;	/* CHOICE: NULL at the end */
	int (*call)(void *options, const char *arg, struct pd_err *e);
};

struct pd_command;

struct pd_usage {
	const char *name;		/* "fp" */
	const char *synopsis;		/* "[OPTION]… [INPUT]…" */
	const char *summary;		/* one line */
	const char *text;		/* a few lines more, or NULL */
	const char *example;		/* one command line */
	bool no_operands;
	bool starts_programs;		/* no sandbox unless it is required (base/sandbox.h) */
	const char *const *words;	/* what the first operand can be, NULL at the end; or NULL: anything */
	const struct pd_opt *opts;	/* ended by a row with no name, no letter and type HEADING */
};

#define PD_OPT_END { .type = PD_OPT_HEADING }

static inline bool pd_opt_at_end(const struct pd_opt *o)
{
	return o->type == PD_OPT_HEADING && !o->name;
}

enum { PD_OPT_HELP = 1, PD_OPT_HELP_ALL };

/* Parses argv into `options`; operands are moved to the end and their index left in *first.  *sandbox (may be NULL) is 1 or 0 after
 * --sandbox or --no-sandbox, which all commands have, and -1 otherwise.
 * 0 go on; PD_OPT_HELP… it was asked for (print it, exit 0); PD_ERR_USAGE with a message that ends in how to get help. */
int pd_opt_parse(const struct pd_usage *u, int argc, char **argv, void *options, int *first, int *sandbox, struct pd_err *e);
/* What was given and shapes the result, as "--distance=3 --similar=90%25 …", in the order of the table, so that two command
 * lines can be compared: every row but those that are `same_result`.  `argv` is one that pd_opt_parse has accepted. */
void pd_opt_given(const struct pd_usage *u, int argc, char **argv, struct pd_buf *out);
/* A value there -> as it was typed, appended. */
void pd_opt_unquote(struct pd_span value, struct pd_buf *out);
/* The help text: what fits a screen, or all options. */
void pd_opt_help(const struct pd_usage *u, bool all, FILE *to);
/* The nearest of `words` (NULL-ended) to `word`, or NULL when none is near: for "did you mean". */
const char *pd_nearest(const char *word, const char *const *words);
/* "4M" -> 4194304.  False when it is no size. */
bool pd_parse_size(const char *z, size_t *out);

#endif
