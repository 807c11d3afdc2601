/* SPDX-License-Identifier: MIT
 * The same table as text: --help, and the nearest word for a mistyped one. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/opt.h"

enum { HELP_COLUMN = 26, NEAR = 3 };

static void help_row(const struct pd_opt *o, FILE *to)
{
	struct pd_buf left = { 0 };
	if (o->letter)
		pd_buf_printf(&left, "-%c%s", o->letter, o->name ? ", " : "");
	else
		pd_buf_add_z(&left, "    ");
	if (o->name)
		pd_buf_printf(&left, "--%s%s", o->type == PD_OPT_SWITCH ? "[no-]" : "", o->name);
	if (o->arg)
		pd_buf_printf(&left, "%s%s", o->name ? "=" : " ", o->arg);
	if (left.n < HELP_COLUMN - 1)
		fprintf(to, "  %-*s%s\n", HELP_COLUMN, left.p, o->help);
	else
		fprintf(to, "  %s\n  %-*s%s\n", left.p, HELP_COLUMN, "", o->help);
	pd_buf_release(&left);
}

/* A heading goes with the options below it. */
static bool is_told(const struct pd_opt *o, bool all)
{
	if (o->type != PD_OPT_HEADING)
		return all || !o->rare;
	for (o++; o->type != PD_OPT_HEADING; o++)
		if (is_told(o, all))
			return true;
	return false;
}

static int help_rows(const struct pd_opt *o, bool all, FILE *to)
{
	int more = 0;
	for (; !pd_opt_at_end(o); o++) {
		if (!is_told(o, all))
			more += o->type != PD_OPT_HEADING;
		else if (o->type == PD_OPT_HEADING)
			fprintf(to, "%s:\n", o->name);
		else
			help_row(o, to);
	}
	return more;
}

void pd_opt_help(const struct pd_usage *u, bool all, FILE *to)
{
	fprintf(to, "usage: pagededup %s%s%s\n%s\n", u->name, *u->synopsis ? " " : "", u->synopsis, u->summary);
	if (u->text)
		fprintf(to, "\n%s\n", u->text);
	fputc('\n', to);
	int more = help_rows(u->opts, all, to);
	fprintf(to, "  -h, --%-*sshow this help", HELP_COLUMN - 6, "help[=all]");
	if (more)
		fprintf(to, ", or with all options (%d more)", more);
	fputc('\n', to);
	if (u->example)
		fprintf(to, "\nexample: %s\n", u->example);
}

/* Edit distance: insert, delete, replace, or swap two neighbours (optimal string alignment); words of up to 63 letters. */
static int edits(const char *a, const char *b)
{
	int rows[3][64];
	int n = (int)strlen(b);
	if (n > 63)
		return 64;
	for (int j = 0; j <= n; j++)
		rows[0][j] = j;
	for (int i = 1; a[i - 1]; i++) {
		int *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
		now[0] = i;
		for (int j = 1; j <= n; j++) {
			int best = before[j - 1] + (a[i - 1] != b[j - 1]);
			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two_before[j - 2] + 1 < best)
				best = two_before[j - 2] + 1;
			now[j] = best;
		}
	}
	return rows[strlen(a) % 3][n];
}

const char *pd_nearest(const char *word, const char *const *words)
{
	const char *best = NULL;
	int least = NEAR;
	for (; *words; words++) {
		int d = strncmp(*words, word, strlen(word)) ? edits(word, *words) : 0;
		if (d < least && (size_t)d < strlen(word)) {
			least = d;
			best = *words;
		}
	}
	return best;
}
