/* SPDX-License-Identifier: MIT */
#include "inspect/inspect.h"

#include <stdlib.h>

#include "base/tsv.h"
#include "write/write.h"

enum { LISTED = 10 };

static struct pd_span value(const struct pd_why_row *row, enum pd_verdicts_column column)
{
	return row->f[column];
}

static bool known(struct pd_span s)
{
	return s.n && !pd_span_is(s, "-");
}

static bool is_kept(const struct pd_why_row *row)
{
	return !pd_span_is(value(row, PD_VERDICTS_IS_DUPLICATE), "1");
}

static void add_page(struct pd_span id, struct pd_span url, struct pd_buf *out)
{
	pd_buf_add_span(out, id);
	if (!known(url))
		return;
	pd_buf_add_z(out, " (");
	pd_buf_add_span(out, url);
	pd_buf_add_c(out, ')');
}

static void add_row_page(const struct pd_why_row *row, struct pd_buf *out)
{
	add_page(value(row, PD_VERDICTS_ID), value(row, PD_VERDICTS_URL), out);
}

/* "has the same text as", "is at distance 5 (similarity 0.83) from"; found: the methods that say so, where there are several */
static void add_nearness(struct pd_span distance, struct pd_span similarity, struct pd_span found, struct pd_buf *out)
{
	if (!known(distance) && known(found) && pd_span_find(found, pd_span_z("text_digest")) < 0)
		pd_buf_printf(out, "matches by %.*s, with similarity %.*s, ", (int)found.n, found.p, (int)similarity.n, similarity.p);
	else if (!known(distance))
		pd_buf_add_z(out, "has the same text as ");
	else if (pd_span_is(distance, "0"))
		pd_buf_add_z(out, "has the same fingerprint as ");
	else if (known(similarity))
		pd_buf_printf(out, "is at distance %.*s, with similarity %.*s, from ", (int)distance.n, distance.p, (int)similarity.n,
			      similarity.p);
	else
		pd_buf_printf(out, "is at distance %.*s from ", (int)distance.n, distance.p);
}

/* "similarity 0.850, found by exact,segments, 12 in common" -> "exact,segments" */
static struct pd_span found_by(struct pd_span reason)
{
	struct pd_span words = pd_span_z("found by "), end = pd_span_z(", ");
	ptrdiff_t at = pd_span_find(reason, words);
	if (at < 0)
		return pd_span(NULL, 0);
	struct pd_span rest = pd_span(reason.p + at + words.n, reason.n - (size_t)at - words.n);
	ptrdiff_t n = pd_span_find(rest, end);
	return n < 0 ? rest : pd_span(rest.p, (size_t)n);
}

/* A row whose pair is another page's: "same as X, which has distance 5". */
static bool is_shared(const struct pd_why_row *row)
{
	struct pd_span reason = value(row, PD_VERDICTS_REASON), same_as = pd_span_z("same as ");
	return reason.n > same_as.n && !memcmp(reason.p, same_as.p, same_as.n);
}

static void add_step(const struct pd_why_row *row, struct pd_buf *out)
{
	pd_buf_add_span(out, value(row, PD_VERDICTS_ID));
	pd_buf_add_c(out, ' ');
	if (is_shared(row))
		pd_buf_add_z(out, "has the same fingerprint or text as ");
	else
		add_nearness(value(row, PD_VERDICTS_DISTANCE), value(row, PD_VERDICTS_SIMILARITY), found_by(value(row, PD_VERDICTS_REASON)), out);
	pd_buf_add_span(out, value(row, PD_VERDICTS_VIA));
}

/* "first of 3 pages" */
static void add_why_kept(const struct pd_why_row *row, struct pd_buf *out)
{
	struct pd_span reason = value(row, PD_VERDICTS_REASON), kept = pd_span_z("kept: ");
	if (reason.n > kept.n && !memcmp(reason.p, kept.p, kept.n))
		reason = pd_span(reason.p + kept.n, reason.n - kept.n);
	pd_buf_add_span(out, reason);
}

static bool says(struct pd_span reason, const char *words)
{
	return pd_span_find(reason, pd_span_z(words)) >= 0;
}

/* What goes with it: by the texts, where these were compared. */
static void say_loss(const struct pd_why_row *row, struct pd_buf *out)
{
	struct pd_span loss = value(row, PD_VERDICTS_LOSS), reason = value(row, PD_VERDICTS_REASON);
	char z[16];
	if (known(loss) && loss.n < sizeof z) {
		memcpy(z, loss.p, loss.n);
		z[loss.n] = 0;
		pd_buf_printf(out, "  Its text was compared with that of the page kept, which lacks %.1f%% of it\n", 100 * strtod(z, NULL));
	} else if (says(reason, ", by sketches only")) {
		pd_buf_add_z(out, "  Their sketches were compared, not their texts\n");
	}
	if (says(reason, ", a part of the page kept"))
		pd_buf_add_z(out, "  It is a part of the page kept\n");
}

static void say_duplicate(const struct pd_why *w, struct pd_buf *out)
{
	const struct pd_why_row *last = w->chain[w->n_chain - 1];
	struct pd_span weight = value(w->page, PD_VERDICTS_WEIGHT);
	add_row_page(w->page, out);
	pd_buf_printf(out, "\n  is a duplicate of ");
	if (is_kept(last))
		add_row_page(last, out);
	else
		pd_buf_add_span(out, value(w->page, PD_VERDICTS_DUP_OF));
	pd_buf_add_z(out, ":\n");
	for (size_t i = 0; i < w->n_chain && !is_kept(w->chain[i]); i++) {
		pd_buf_add_z(out, "    ");
		add_step(w->chain[i], out);
		pd_buf_add_c(out, '\n');
	}
	if (is_kept(last)) {
		pd_buf_add_z(out, "  which is kept: ");
		add_why_kept(last, out);
		pd_buf_printf(out, " of cluster %.*s\n", (int)value(last, PD_VERDICTS_CLUSTER_ID).n, value(last, PD_VERDICTS_CLUSTER_ID).p);
	}
	say_loss(w->page, out);
	if (known(weight) && !pd_span_is(weight, "0"))
		pd_buf_printf(out, "  It is not removed; its weight is %.*s\n", (int)weight.n, weight.p);
}

static void say_kept(const struct pd_why *w, struct pd_buf *out)
{
	size_t listed = 0;
	add_row_page(w->page, out);
	pd_buf_add_z(out, "\n  is kept: ");
	add_why_kept(w->page, out);
	if (known(value(w->page, PD_VERDICTS_CLUSTER_ID)))
		pd_buf_printf(out, " of cluster %.*s", (int)value(w->page, PD_VERDICTS_CLUSTER_ID).n,
			      value(w->page, PD_VERDICTS_CLUSTER_ID).p);
	pd_buf_add_z(out, w->n > 1 ? "\n  Its duplicates:\n" : "\n  No other page of these rows is its duplicate\n");
	for (size_t i = 0; i < w->n && listed < LISTED; i++) {
		if (is_kept(&w->rows[i]))
			continue;
		pd_buf_add_z(out, "    ");
		add_step(&w->rows[i], out);
		pd_buf_add_c(out, '\n');
		listed++;
	}
	if (w->n - 1 > listed)
		pd_buf_printf(out, "    and %zu more\n", w->n - 1 - listed);
}

static bool is_suspect(const struct pd_why_row *row)
{
	return is_kept(row) && known(value(row, PD_VERDICTS_SUSPECT)) && known(value(row, PD_VERDICTS_DUP_OF));
}

static void say_suspect(const struct pd_why *w, struct pd_buf *out)
{
	struct pd_span reason = value(w->page, PD_VERDICTS_REASON), keep = value(w->page, PD_VERDICTS_DUP_OF);
	add_row_page(w->page, out);
	pd_buf_printf(out, "\n  is only suspected to be a duplicate of %.*s: it stays, unless it is applied with --remove-suspects\n    ",
		      (int)keep.n, keep.p);
	add_step(w->page, out);
	pd_buf_printf(out, "\n    %.*s\n", (int)reason.n, reason.p);
}

static void say_unnamed(const struct pd_why *w, const char *verdicts, bool has_pairs, struct pd_buf *out)
{
	pd_buf_add_span(out, w->id);
	pd_buf_printf(out, "\n  is not named in %s: it is kept: it is in no cluster", verdicts);
	pd_buf_add_z(out, w->pairs ? "\n" : has_pairs ? ", and no pair names it\n" : ", or not a page of these dumps\n");
	for (size_t i = 0; i < w->n_suggestions && !w->pairs; i++)
		pd_buf_printf(out, "%s%.*s%s", i ? ", " : "  Did you mean ", (int)w->suggestions[i].n, w->suggestions[i].p,
			      i + 1 < w->n_suggestions ? "" : "?\n");
}

static void say_near(const struct pd_why *w, struct pd_buf *out)
{
	pd_buf_add_z(out, "  ");
	pd_buf_count(out, w->pairs, "pair");
	pd_buf_add_z(out, w->pairs == 1 ? " names it:\n" : " name it:\n");
	for (size_t i = 0; i < w->n_near; i++) {
		const struct pd_why_near *n = &w->near[i];
		pd_buf_add_z(out, "    it ");
		add_nearness(n->distance, n->similarity, n->method, out);
		add_page(n->id, n->url, out);
		if (n->doubt.n)
			pd_buf_printf(out, ", which is no pair (%.*s)", (int)n->doubt.n, n->doubt.p);
		if (!n->named)
			pd_buf_add_z(out, ", which is in no cluster");
		else if (is_suspect(&n->row))
			pd_buf_add_z(out, ", which is suspected");
		else if (is_kept(&n->row))
			pd_buf_add_z(out, ", which is kept");
		else
			pd_buf_printf(out, ", a duplicate of %.*s", (int)value(&n->row, PD_VERDICTS_DUP_OF).n,
				      value(&n->row, PD_VERDICTS_DUP_OF).p);
		pd_buf_add_c(out, '\n');
	}
	if (w->pairs > w->n_near)
		pd_buf_printf(out, "    and %llu more\n", (unsigned long long)(w->pairs - w->n_near));
}

void pd_why_text(const struct pd_why *w, const char *verdicts, bool has_pairs, struct pd_buf *out)
{
	if (!w->page)
		say_unnamed(w, verdicts, has_pairs, out);
	else if (is_suspect(w->page))
		say_suspect(w, out);
	else if (is_kept(w->page))
		say_kept(w, out);
	else
		say_duplicate(w, out);
	if (w->pairs)
		say_near(w, out);
}

static void add_string(struct pd_json *j, const char *key, struct pd_span s)
{
	struct pd_buf plain = { 0 };
	if (known(s) && pd_tsv_value(s, &plain) == PD_OK)
		s = pd_buf_span(&plain);
	else if (!known(s))
		s = pd_span("", 0);
	pd_json_str_or_null(j, key, s);
	pd_buf_release(&plain);
}

/* The row as it stands in the verdicts. */
static void write_step(const struct pd_why_row *row, struct pd_json *j, struct pd_buf *out)
{
	size_t at = out->n;
	for (int i = 0; i < PD_VERDICTS_COLUMNS; i++) {
		pd_buf_add_span(out, row->f[i]);
		pd_buf_add_c(out, i + 1 < PD_VERDICTS_COLUMNS ? '\t' : '\n');
	}
	pd_write_jsonl_row(j, pd_verdicts_columns, out, at);
}

void pd_why_json(const struct pd_why *w, struct pd_json *j, struct pd_buf *out)
{
	for (size_t i = 0; i < w->n_chain; i++)
		write_step(w->chain[i], j, out);
	if (w->page)
		return;
	add_string(j, "id", w->id);
	pd_json_bool(j, "is_duplicate", false);
	pd_json_int(j, "pairs", (int64_t)w->pairs);
	for (size_t i = 0; i < w->n_suggestions; i++)
		pd_json_push(j, "suggestions", w->suggestions[i]);
	pd_json_write(j, out);
	pd_buf_add_c(out, '\n');
}
