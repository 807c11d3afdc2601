/* SPDX-License-Identifier: MIT */
#include "write/write.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fields.h"


void pd_write_pairs_header(const struct pd_rows *rows, const struct pd_match_options *o, struct pd_buf *out)
{
	pd_buf_add_z(out, "# pagededup pairs 1 ");
	if (rows->must.n)
		pd_buf_printf(out, "%s ", rows->must.p);
	pd_buf_printf(out, "k=%d scope=%s ", o->k, o->scope_name ? o->scope_name : pd_match_scope_names[o->scope]);
	if (o->rules) {
		pd_buf_add_z(out, "rules=");
		pd_rules_print(o->rules, out);
		pd_buf_add_c(out, ' ');
	}
	if (o->owners)
		pd_buf_printf(out, "sites=%016" PRIx64 " ", o->owners);
	pd_buf_printf(out, "links=%s ", o->all_pairs ? "all" : "first");
	pd_buf_printf(out, "candidates=%s ", pd_match_candidates_names[o->candidates]);
	if (o->verify.off)
		pd_buf_add_z(out, "similarity=none");
	else
		pd_buf_printf(out, "similarity=%g similarity_same_host=%g k_unknown=%d", o->verify.least, o->verify.least_same_host,
			      o->verify.k_unknown);
	if (rows->methods.n) {
		pd_buf_add_z(out, " methods=");
		pd_methods_print(&rows->methods, PD_METHOD_BOTH, out);
	}
	pd_buf_add_z(out, "\n#");
	int n = rows->methods.n ? PD_PAIRS_METHODS_COLUMNS : PD_PAIRS_COLUMNS;
	for (int i = 0; i < n; i++)
		pd_buf_printf(out, "%s%c", pd_pairs_methods_columns[i], i + 1 < n ? '\t' : '\n');
}

#define FAR 24		/* pairs ahead whose rows' offsets are prefetched */
#define NEAR 12		/* and, when those are there, their rows */

/* A row of the spool: id, url, and as they stand fetch_time, text_bytes and quality, of what follows. */
struct pair_line {
	struct pd_span id, url, rest;
};

static struct pd_span until(const char *p, char c, const char *end)
{
	return pd_span(p, (size_t)((const char *)memchr(p, c, (size_t)(end - p)) - p));
}

static size_t three_fields(struct pd_span s)
{
	size_t n = 0;
	for (int tabs = 0; n < s.n; n++)
		if (s.p[n] == '\t' && ++tabs == 3)
			break;
	return n;
}

static struct pair_line split(const struct pd_rows *rows, uint32_t row)
{
	const char *end = rows->spool + rows->spool_size;
	struct pair_line l;
	l.id = until(pd_rows_text(rows, row), '\t', end);
	l.url = until(l.id.p + l.id.n + 1, '\t', end);
	l.rest = until(l.url.p + l.url.n + 1, '\n', end);
	l.rest.n = three_fields(l.rest);
	return l;
}

static char *put_field(char *to, struct pd_span s, char after)
{
	memcpy(to, s.p, s.n);
	to[s.n] = after;
	return to + s.n + 1;
}

/* "%d" of 0 to 999. */
static char *put_int(char *to, int v)
{
	if (v >= 100)
		*to++ = (char)('0' + v / 100);
	if (v >= 10)
		*to++ = (char)('0' + v / 10 % 10);
	*to++ = (char)('0' + v % 10);
	return to;
}

/* "%.3f" of 0 to 1, which printf rounds as the exact value does: only near a tie must it be asked. */
static char *put_similarity(char *to, double s)
{
	double scaled = s * 1000, part = scaled - (int)scaled;
	int v = (int)scaled + (part > .5);
	if (part > .4999 && part < .5001)
		return to + sprintf(to, "%.3f", s);
	*to++ = (char)('0' + v / 1000);
	*to++ = '.';
	*to++ = (char)('0' + v / 100 % 10);
	*to++ = (char)('0' + v / 10 % 10);
	*to++ = (char)('0' + v % 10);
	return to;
}

static char *put_values(char *to, const struct pd_match_pair *pair)
{
	if (pair->distance < 0)
		*to++ = '-';
	else
		to = put_int(to, pair->distance);
	*to++ = '\t';
	if (pair->similarity < 0)
		*to++ = '-';
	else
		to = put_similarity(to, pair->similarity);
	*to++ = '\t';
	return put_field(to, pd_span_z(pair->distance < 0 ? "text_digest" : pair->linked ? "linked" : "simhash"), '\t');
}

static void pair_row(const struct pd_rows *rows, const struct pd_match_pair *pair, struct pd_buf *out)
{
	struct pair_line x = split(rows, pair->a), y = split(rows, pair->b);
	char *from = pd_buf_reserve(out, x.id.n + x.url.n + x.rest.n + y.id.n + y.url.n + y.rest.n + 64), *to = from;
	to = put_field(put_field(to, x.id, '\t'), y.id, '\t');
	to = put_values(to, pair);
	to = put_field(put_field(to, x.url, '\t'), y.url, '\t');
	to = put_field(put_field(to, x.rest, '\t'), y.rest, '\n');
	*to = 0;
	out->n += (size_t)(to - from);
}

/* Rows lie anywhere in memory, and so do their offsets: both are prefetched. */
static void expect(const struct pd_rows *rows, const struct pd_match_pair *pairs, size_t n, size_t i)
{
	if (i + FAR < n) {
		__builtin_prefetch(&rows->at.low[pairs[i + FAR].b]);
		__builtin_prefetch(&rows->at.high[pairs[i + FAR].b]);
	}
	if (i + NEAR < n) {
		__builtin_prefetch(pd_rows_text(rows, pairs[i + NEAR].a));
		__builtin_prefetch(pd_rows_text(rows, pairs[i + NEAR].b));
		__builtin_prefetch(pd_rows_text(rows, pairs[i + NEAR].b) + 64);
	}
}

void pd_write_pair_rows(const struct pd_rows *rows, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		expect(rows, pairs, n, i);
		pair_row(rows, &pairs[i], out);
	}
}

void pd_write_suspect_line(const struct pd_rows *rows, const struct pd_doubt *doubt, struct pd_json *j, struct pd_buf *out)
{
	const char *columns[PD_PAIRS_COLUMNS + 2] = { PD_SUSPECT_MARK };
	struct pd_match_pair pair = pd_match_doubted(rows, doubt);
	size_t at = out->n;
	pd_buf_printf(out, "%s%s\t", j ? "" : "# " PD_SUSPECT_MARK " ", pd_look_names[doubt->look]);
	pair_row(rows, &pair, out);
	memcpy(columns + 1, pd_pairs_columns, sizeof pd_pairs_columns);
	if (j)
		pd_write_jsonl_row(j, columns, out, at);
}

static void add_share(struct pd_buf *out, size_t shared, size_t all)
{
	pd_buf_printf(out, "\t%.3f", all ? (double)shared / (double)all : 0);
}

/* The names of those that found it; equal texts are the fingerprint's way with pages that have none. */
static void add_methods(const struct pd_rows *rows, const struct pd_match_methods_pair *pair, struct pd_buf *out)
{
	bool first = true;
	for (int i = 0; i < rows->methods.n; i++) {
		const struct pd_method *m = rows->methods.v[i].method;
		if (!(pair->found >> i & 1))
			continue;
		pd_buf_printf(out, "%s%s", first ? "" : ",", m->kind == PD_SIGN_BITS && pair->text ? "text_digest" : m->name);
		first = false;
	}
}

void pd_write_methods_pair_row(const struct pd_rows *rows, const struct pd_match_methods_pair *pair, struct pd_buf *out)
{
	struct pair_line x = split(rows, pair->a), y = split(rows, pair->b);
	pd_buf_add_span(out, x.id);
	pd_buf_add_c(out, '\t');
	pd_buf_add_span(out, y.id);
	pd_buf_add_c(out, '\t');
	if (pair->distance < 0)
		pd_buf_add_c(out, '-');
	else
		pd_buf_printf(out, "%d", pair->distance);
	if (pair->similarity < 0)
		pd_buf_add_z(out, "\t-\t");
	else
		pd_buf_printf(out, "\t%.3f\t", pair->similarity);
	add_methods(rows, pair, out);
	const struct pd_span rest[] = { x.url, y.url, x.rest, y.rest };
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
		pd_buf_add_c(out, '\t');
		pd_buf_add_span(out, rest[i]);
	}
	if (pair->set < 0) {
		pd_buf_add_z(out, "\t-\t-\t-");
	} else {
		pd_buf_printf(out, "\t%zu", pair->shared);
		add_share(out, pair->shared, pair->size_a);
		add_share(out, pair->shared, pair->size_b);
	}
	pd_buf_printf(out, "\t%d\n", pair->linked);
}
