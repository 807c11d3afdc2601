/* SPDX-License-Identifier: MIT
 *
 * Decide the same candidate pairs repeatedly with different thresholds, for bench/decision.py.
 * Rows are read once, and all pairs within k are found once.  Each line of standard input has the form `NAME=VALUE …`
 * (least, least_same_host, and the names of match/verify.def; other names keep their defaults).  For each line the program
 * prints the two URLs of each accepted pair, separated by a tab, and then a line with a dot.
 *
 * usage: decide K ROWS
 */
#include <stdio.h>
#include <stdlib.h>

#include "match/match.h"

/* All pairs of rows within k. */
struct found {
	struct pd_match_pair *v;
	size_t n, cap;
};

static void format_pairs(void *formatter, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out)
{
	(void)out;
	struct found *f = formatter;
	for (size_t i = 0; i < n; i++) {
		f->v = pd_grow(f->v, f->n, &f->cap, sizeof *f->v);
		f->v[f->n++] = pairs[i];
	}
}

static int write_nothing(void *ctx, const struct pd_buf *text)
{
	(void)ctx;
	(void)text;
	return PD_OK;
}

static int join(const struct pd_rows *rows, int k, struct found *found, struct pd_err *e)
{
	void *formatters[] = { found };
	struct pd_match_sink sink = { .formatters = formatters, .format = format_pairs, .write = write_nothing };
	struct pd_match_options o = { .k = k, .verify.off = true, .all_pairs = true, .threads = 1 };
	struct pd_match_stats stats;
	return pd_match(rows, &o, &sink, &stats, e);
}

static double *number_of(struct pd_verify_options *o, struct pd_verify_numbers *numbers, const char *name, size_t n)
{
#define X(number, value, meaning) \
	if (n == sizeof #number - 1 && memcmp(name, #number, n) == 0) \
		return &numbers->number;
#include "match/verify.def"
#undef X
	if (n == strlen("least") && memcmp(name, "least", n) == 0)
		return &o->least;
	return n == strlen("least_same_host") && memcmp(name, "least_same_host", n) == 0 ? &o->least_same_host : NULL;
}

static bool read_numbers(struct pd_verify_options *o, struct pd_verify_numbers *numbers, char *line)
{
	*o = (struct pd_verify_options)PD_VERIFY_DEFAULTS;
	*numbers = pd_verify_numbers_default;
	o->numbers = numbers;
	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
		char *equals = strchr(word, '=');
		double *number = equals ? number_of(o, numbers, word, (size_t)(equals - word)) : NULL;
		if (!number) {
			fprintf(stderr, "decide: no such number: %s\n", word);
			return false;
		}
		*number = strtod(equals + 1, NULL);
	}
	return true;
}

static void decide(const struct pd_rows *rows, const struct found *found, const struct pd_verify_options *o)
{
	struct pd_verifier v = { .o = o, .rows = rows };
	double similarity;
	for (size_t i = 0; i < found->n; i++) {
		const struct pd_match_pair *p = &found->v[i];
		v.texts = p->distance < 0;
		if (!pd_verify_rows(&v, p->a, p->b, p->distance, &similarity))
			continue;
		struct pd_span a = pd_rows_field(rows, p->a, PD_ROW_URL), b = pd_rows_field(rows, p->b, PD_ROW_URL);
		printf("%.*s\t%.*s\n", (int)a.n, a.p, (int)b.n, b.p);
	}
	pd_verifier_release(&v);
	puts(".");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct pd_rows rows = { 0 };
	struct found found = { 0 };
	struct pd_verify_options o;
	struct pd_verify_numbers numbers;
	struct pd_err e;
	char *line = NULL;
	size_t cap = 0;
	int status = 2;
	if (argc != 3) {
		fprintf(stderr, "usage: decide K ROWS\n");
		return 2;
	}
	struct pd_rows_options in = { .paths = argv + 2, .n_paths = 1 };
	if (pd_rows_read(&rows, &in, &e) || join(&rows, atoi(argv[1]), &found, &e))
		fprintf(stderr, "decide: %s\n", e.text);
	else
		for (status = 0; !status && getline(&line, &cap, stdin) > 0;)
			if (read_numbers(&o, &numbers, line))
				decide(&rows, &found, &o);
			else
				status = 2;
	free(line);
	free(found.v);
	pd_rows_release(&rows);
	return status;
}
