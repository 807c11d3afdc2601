/* SPDX-License-Identifier: MIT
 * A table of options -> getopt_long, and back to the option struct; the same table as text: --help. */
#include "base/opt.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"

enum { LONG_BASE = 256, NO_BIT = 1 << 16, HELP = 1 << 17, SANDBOX = 1 << 18, NO_SANDBOX = 1 << 19 };

static bool takes_value(const struct pd_opt *o)
{
	return o->type != PD_OPT_FLAG && o->type != PD_OPT_SWITCH && o->type != PD_OPT_HEADING &&
	       (o->type != PD_OPT_CALL || o->arg);
}

bool pd_parse_size(const char *z, size_t *out)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(z, &end, 10);
	if (end == z || errno || z[0] == '-')
		return false;
	int shift = 0;
	switch (pd_ascii_lower(*end)) {
	case 'k': shift = 10; break;
	case 'm': shift = 20; break;
	case 'g': shift = 30; break;
	case 't': shift = 40; break;
	}
	if (shift)
		end++;
	if (shift && (!strcmp(end, "iB") || !strcmp(end, "B") || !strcmp(end, "ib") || !strcmp(end, "b")))
		end += strlen(end);
	if (*end || (shift && v >> (63 - shift)))
		return false;
	*out = (size_t)v << shift;
	return true;
}

/* 0.5, 16, 1,000,000 */
static void add_bound(struct pd_buf *out, double v)
{
	char digits[32];
	if (v < 1000 || v > 1e15 || v != (double)(int64_t)v) {
		pd_buf_printf(out, "%g", v);
		return;
	}
	int n = snprintf(digits, sizeof digits, "%" PRId64, (int64_t)v);
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			pd_buf_add_c(out, ',');
		pd_buf_add_c(out, digits[i]);
	}
}

static int bad_value(const struct pd_opt *o, const char *arg, struct pd_err *e)
{
	struct pd_buf want = { 0 };
	if (o->type == PD_OPT_CHOICE)
		for (int i = 0; o->choices[i]; i++)
			pd_buf_printf(&want, "%s%s", i ? ", " : "one of ", o->choices[i]);
	else if (o->type == PD_OPT_SIZE)
		pd_buf_add_z(&want, "a size such as 512K, 4M or 1G");
	else {
		pd_buf_printf(&want, "a%s number from ", o->type == PD_OPT_INT ? " whole" : "");
		add_bound(&want, o->min);
		pd_buf_add_z(&want, " to ");
		add_bound(&want, o->max);
	}
	int s = pd_fail(e, PD_ERR_USAGE, "--%s takes %s, not '%s'", o->name, want.p, arg);
	pd_buf_release(&want);
	return s;
}

static int set_number(const struct pd_opt *o, char *options, const char *arg, struct pd_err *e)
{
	char *end;
	errno = 0;
	double v = o->type == PD_OPT_INT ? (double)strtol(arg, &end, 10) : strtod(arg, &end);
	if (end == arg || *end || errno || isnan(v) || v < o->min || v > o->max)
		return bad_value(o, arg, e);
	if (o->type == PD_OPT_REAL)
		*(double *)(options + o->at) = v;
	else
		*(int *)(options + o->at) = (int)v;
	return PD_OK;
}

static int set_choice(const struct pd_opt *o, char *options, const char *arg, struct pd_err *e)
{
	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], arg)) {
			*(int *)(options + o->at) = i;
			return PD_OK;
		}
	}
	return bad_value(o, arg, e);
}

static int set(const struct pd_opt *o, void *options, const char *arg, bool no, struct pd_err *e)
{
	char *at = (char *)options;
	switch (o->type) {
	case PD_OPT_FLAG: *(bool *)(at + o->at) = true; return PD_OK;
	case PD_OPT_SWITCH: *(int *)(at + o->at) = !no; return PD_OK;
	case PD_OPT_INT:
	case PD_OPT_REAL: return set_number(o, at, arg, e);
	case PD_OPT_SIZE: return pd_parse_size(arg, (size_t *)(at + o->at)) ? PD_OK : bad_value(o, arg, e);
	case PD_OPT_TEXT: *(const char **)(at + o->at) = arg; return PD_OK;
	case PD_OPT_CHOICE: return set_choice(o, at, arg, e);
	case PD_OPT_CALL: return o->call(options, arg, e);
	case PD_OPT_HEADING: break;
	}
	return PD_OK;
}

struct table {
	struct option *longs;
	const char **names; /* NULL-ended, for suggestions */
	struct pd_buf letters, negated;
};

static void add_long(struct table *t, size_t *n, const char *name, bool value, int code)
{
	t->longs[*n] = (struct option){ name, value ? required_argument : no_argument, NULL, code };
	t->names[(*n)++] = name;
}

static void table_make(struct table *t, const struct pd_opt *opts)
{
	size_t rows = 0, n = 0;
	while (!pd_opt_at_end(&opts[rows]))
		rows++;
	*t = (struct table){ .longs = pd_zalloc((2 * rows + 5) * sizeof *t->longs),
			     .names = pd_zalloc((2 * rows + 5) * sizeof *t->names) };
	pd_buf_reserve(&t->negated, rows * 40); /* names point into it: it must not move */
	pd_buf_add_z(&t->letters, ":h");
	for (size_t i = 0; i < rows; i++) {
		const struct pd_opt *o = &opts[i];
		if (o->type == PD_OPT_HEADING)
			continue;
		if (o->letter)
			pd_buf_printf(&t->letters, "%c%s", o->letter, takes_value(o) ? ":" : "");
		if (o->name)
			add_long(t, &n, o->name, takes_value(o), LONG_BASE + (int)i);
		if (o->type == PD_OPT_SWITCH) {
			size_t at = t->negated.n;
			pd_buf_printf(&t->negated, "no-%s%c", o->name, 0);
			add_long(t, &n, t->negated.p + at, false, (LONG_BASE + (int)i) | NO_BIT);
		}
	}
	add_long(t, &n, "sandbox", false, SANDBOX);
	add_long(t, &n, "no-sandbox", false, NO_SANDBOX);
	t->names[n] = "help";
	t->longs[n] = (struct option){ "help", optional_argument, NULL, HELP };
}

static void table_release(struct table *t)
{
	free(t->longs);
	free(t->names);
	pd_buf_release(&t->letters);
	pd_buf_release(&t->negated);
}

static const struct pd_opt *by_code(const struct pd_opt *opts, int code)
{
	if (code >= LONG_BASE)
		return &opts[(code & ~NO_BIT) - LONG_BASE];
	for (; !pd_opt_at_end(opts); opts++)
		if (opts->letter == code)
			return opts;
	return NULL;
}

/* Names that other programs give to options.  Of the options after a name, the first that the command has is suggested. */
static const struct {
	const char *other, *ours[3];
} synonyms[] = {
	{ "threshold", { "similar", "similarity", "distance" } },
	{ "jaccard", { "similar", "similarity" } },
	{ "min-similarity", { "similar", "similarity" } },
	{ "hamming", { "distance" } },
	{ "max-distance", { "distance" } },
	{ "threads", { "jobs" } },
	{ "num-threads", { "jobs" } },
	{ "workers", { "jobs" } },
	{ "num-workers", { "jobs" } },
	{ "num-proc", { "jobs" } },
	{ "processes", { "jobs" } },
	{ "json", { "format=jsonl" } },
	{ "jsonl", { "format=jsonl" } },
	{ "parquet", { "format=parquet" } },
	{ "out", { "output" } },
	{ "outdir", { "output" } },
	{ "output-dir", { "output" } },
	{ "ngram", { "shingle" } },
	{ "ngram-size", { "shingle" } },
	{ "num-perm", { "sketch" } },
	{ "column", { "field-text" } },
	{ "text-column", { "field-text" } },
	{ "id-column", { "field-id" } },
	{ "silent", { "quiet" } },
	{ "verbose", { "progress" } },
};

static const char *synonym_of(const char *name, const char *const *known)
{
	for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
		for (int k = 0; k < 3 && synonyms[i].ours[k] && !strcmp(synonyms[i].other, name); k++)
			for (const char *const *n = known; *n; n++)
				if (pd_span_is(pd_span(synonyms[i].ours[k], strcspn(synonyms[i].ours[k], "=")), *n))
					return synonyms[i].ours[k];
	return NULL;
}

static int misuse(const struct table *t, int code, char *word, struct pd_err *e)
{
	/* In a group of short options getopt has not yet advanced past the word: `word` is the previous one. */
	if (optopt > 0 && optopt < LONG_BASE)
		return pd_fail(e, PD_ERR_USAGE, code == ':' ? "-%c needs a value" : "unknown option -%c", optopt);
	if (code == ':')
		return pd_fail(e, PD_ERR_USAGE, "%s needs a value", word);
	if (optopt)
		return pd_fail(e, PD_ERR_USAGE, "%s takes no value", word);
	char *name = pd_strndup(word + 2, strcspn(word + 2, "="));
	const char *synonym = synonym_of(name, t->names), *near = synonym ? synonym : pd_nearest(name, t->names);
	int s = near ? pd_fail(e, PD_ERR_USAGE, "unknown option --%s; did you mean --%s?", name, near)
		     : pd_fail(e, PD_ERR_USAGE, "unknown option --%s", name);
	free(name);
	return s;
}

static int help_wanted(const char *how_much, struct pd_err *e)
{
	if (how_much && strcmp(how_much, "all"))
		return pd_fail(e, PD_ERR_USAGE, "--help takes 'all' or no value, not '%s'", how_much);
	return how_much ? PD_OPT_HELP_ALL : PD_OPT_HELP;
}

int pd_opt_parse(const struct pd_usage *u, int argc, char **argv, void *options, int *first, int *sandbox, struct pd_err *e)
{
	struct table t;
	int status = PD_OK, wanted = -1;
	table_make(&t, u->opts);
	optind = 0; /* glibc: reset */
	opterr = 0;
	while (!status) {
		optopt = 0;
		int code = getopt_long(argc, argv, t.letters.p, t.longs, NULL);
		if (code < 0)
			break;
		if (code == HELP || code == 'h')
			status = help_wanted(code == HELP ? optarg : NULL, e);
		else if (code == '?' || code == ':')
			status = misuse(&t, code, argv[optind - 1], e);
		else if (code == SANDBOX || code == NO_SANDBOX)
			wanted = code == SANDBOX;
		else
			status = set(by_code(u->opts, code), options, optarg, code >= LONG_BASE && code & NO_BIT, e);
	}
	*first = optind;
	if (sandbox)
		*sandbox = wanted;
	table_release(&t);
	return status;
}

/* Return the next option of a command line that pd_opt_parse has accepted, or NULL at the end. */
static const struct pd_opt *next_option(const struct pd_usage *u, const struct table *t, int argc, char **argv, int *code)
{
	while ((*code = getopt_long(argc, argv, t->letters.p, t->longs, NULL)) >= 0)
		if (*code < HELP && *code != 'h')
			return by_code(u->opts, *code);
	return NULL;
}

int pd_opt_check(const struct pd_usage *u, int argc, char **argv, unsigned mode, const char *mode_name, struct pd_err *e)
{
	struct table t;
	const struct pd_opt *o;
	int code;
	table_make(&t, u->opts);
	optind = 0;
	do
		o = next_option(u, &t, argc, argv, &code);
	while (o && (!o->only || o->only & mode));
	table_release(&t);
	return o ? pd_fail(e, PD_ERR_USAGE, "%s does not take --%s", mode_name, o->name) : PD_OK;
}

void pd_opt_unquote(struct pd_span value, struct pd_buf *out)
{
	for (size_t i = 0; i < value.n; i++) {
		int byte = value.p[i] == '%' && i + 2 < value.n ? pd_hex_byte(value.p[i + 1], value.p[i + 2]) : -1;
		pd_buf_add_c(out, byte < 0 ? value.p[i] : (char)byte);
		i += byte < 0 ? 0 : 2;
	}
}

void pd_opt_given(const struct pd_usage *u, int argc, char **argv, struct pd_buf *out)
{
	struct table t;
	const struct pd_opt *o;
	size_t rows = 0;
	int code;
	table_make(&t, u->opts);
	while (!pd_opt_at_end(&u->opts[rows]))
		rows++;
	const char **values = pd_zalloc((rows + 1) * sizeof *values); /* the last one counts, as when they are parsed */
	optind = 0;
	while ((o = next_option(u, &t, argc, argv, &code)) != NULL)
		values[o - u->opts] = optarg ? optarg : code >= LONG_BASE && code & NO_BIT ? "no" : "yes";
	for (size_t i = 0; i < rows; i++) {
		if (!values[i] || u->opts[i].same_result)
			continue;
		o = &u->opts[i];
		pd_buf_printf(out, "%s-%s%.*s=", out->n ? " " : "", o->name ? "-" : "", o->name ? 100 : 1,
			      o->name ? o->name : &o->letter);
		/* A value is one word of a line. */
		const char *value = values[i];
		for (; *value; value++) {
			if ((unsigned char)*value <= ' ' || *value == '%' || *value == 0x7f)
				pd_buf_printf(out, "%%%02x", (unsigned char)*value);
			else
				pd_buf_add_c(out, *value);
		}
	}
	free(values);
	table_release(&t);
}

/* --- --help, and the nearest word for a mistyped one --- */

/* pd_opt_parse handles it: no option struct has it. */
const struct pd_opt pd_opt_common[] = {
	{ .name = "sandbox",
	  .type = PD_OPT_SWITCH,
	  .rare = true,
	  .help = "run in a sandbox, or without one; pagededup(1) describes it" },
	{ .letter = 0 },
};

enum { HELP_COLUMN = 26, NEAR = 3 };

/* Return whether --help lists an option.  A heading is printed together with the options below it. */
static bool is_listed(const struct pd_opt *o, const char *basics, bool all)
{
	char name[64];
	if (o->type != PD_OPT_HEADING && (all || !basics))
		return all || !o->rare;
	if (o->type != PD_OPT_HEADING) {
		snprintf(name, sizeof name, " %s ", o->name);
		return strstr(basics, name) != NULL;
	}
	for (o++; o->type != PD_OPT_HEADING; o++)
		if (is_listed(o, basics, all))
			return true;
	return false;
}

static int help_rows(const struct pd_opt *o, const char *basics, bool all, FILE *to)
{
	int more = 0;
	for (; !pd_opt_at_end(o); o++) {
		if (!is_listed(o, basics, all))
			more += o->type != PD_OPT_HEADING;
		else if (o->type == PD_OPT_HEADING)
			fprintf(to, "%s:\n", o->name);
		else {
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
	}
	return more;
}

void pd_opt_help(const struct pd_usage *u, bool all, FILE *to)
{
	fprintf(to, "usage: pagededup %s%s%s\n%s\n", u->name, *u->synopsis ? " " : "", u->synopsis, u->summary);
	if (u->text)
		fprintf(to, "\n%s\n", u->text);
	fputc('\n', to);
	int more = help_rows(u->opts, u->basics, all, to) + help_rows(pd_opt_common, NULL, all, to);
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
