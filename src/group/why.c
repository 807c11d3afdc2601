/* SPDX-License-Identifier: MIT */
#include "group/why.h"

#include <stdlib.h>

#include "base/fields.h"
#include "base/tsv.h"

enum { LISTED = 5, FAR = 4 };

/* What the first reading of the verdicts looks for. */
struct why_search {
	struct pd_why *why;
	struct pd_span id, url;		/* escaped; {NULL, 0}: not asked for */
	struct pd_span cluster;		/* of the page, once found */
	struct pd_span by_base;		/* the one id with the same base name and place, and how many there are */
	uint64_t n_by_base;
	uint64_t n_found;
	struct pd_buf list;
	int edits[PD_WHY_SUGGESTIONS];
};

/* mark: as in the reader. */
typedef void row_fn(void *ctx, const struct pd_span *f, struct pd_span mark);

/* Rows that cannot be read say nothing of the page that is asked for. */
static int read_rows(const char *path, const char *kind, const char *const *columns, row_fn *each, void *ctx, struct pd_err *e)
{
	char *paths[] = { (char *)path };
	bool verdicts = columns == pd_verdicts_columns;
	struct pd_tsv_reader in = { .kind = kind, .or_kind = verdicts ? "answers" : NULL, .columns = columns, .v1_columns = columns, .paths = paths, .n_paths = 1 };
	int status;
	in.marked = verdicts ? NULL : PD_SUSPECT_MARK;
	while ((status = pd_tsv_next(&in, e)) != 0) {
		if (status > 0)
			each(ctx, in.fields, in.mark);
		else if (status != PD_ERR_FORMAT)
			break;
	}
	pd_tsv_release(&in);
	return status;
}

static struct pd_span keep_span(struct pd_why *w, struct pd_span s)
{
	return s.n ? pd_arena_copy(&w->arena, s) : pd_span("-", 1);
}

static void copy_row(struct pd_why *w, const struct pd_span *f, struct pd_why_row *out)
{
	for (int i = 0; i < PD_VERDICTS_COLUMNS; i++)
		out->f[i] = keep_span(w, f[i]);
}

static struct pd_span escaped(struct pd_why *w, const char *z)
{
	struct pd_buf b = { 0 };
	if (!z)
		return pd_span(NULL, 0);
	pd_tsv_add(&b, pd_span_z(z));
	struct pd_span s = keep_span(w, pd_buf_span(&b));
	pd_buf_release(&b);
	return s;
}

/* --- ids that are alike --- */

static size_t shared_start(struct pd_span a, struct pd_span b)
{
	size_t n = 0;
	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

static size_t shared_end(struct pd_span a, struct pd_span b)
{
	size_t n = 0;
	while (n < a.n && n < b.n && a.p[a.n - 1 - n] == b.p[b.n - 1 - n])
		n++;
	return n;
}

/* Insertions, deletions, replacements; the parts that differ are short, or it is no slip of a finger. */
static int count_edits(struct pd_span a, struct pd_span b)
{
	int row[32], n = (int)b.n;
	if (a.n > 30 || b.n > 30)
		return FAR;
	for (int j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; i < a.n; i++) {
		int before = row[0];
		row[0] = (int)i + 1;
		for (int j = 1; j <= n; j++) {
			int best = before + (a.p[i] != b.p[j - 1]);
			best = row[j] + 1 < best ? row[j] + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			before = row[j];
			row[j] = best;
		}
	}
	return row[n] < FAR ? row[n] : FAR;
}

int pd_why_edits(struct pd_span a, struct pd_span b)
{
	size_t start = shared_start(a, b), longest = a.n > b.n ? a.n : b.n;
	a = pd_span(a.p + start, a.n - start);
	b = pd_span(b.p + start, b.n - start);
	size_t end = shared_end(a, b);
	int n = count_edits(pd_span(a.p, a.n - end), pd_span(b.p, b.n - end));
	return 3 * (size_t)n <= longest ? n : FAR;
}

static void suggest(struct why_search *s, struct pd_span id)
{
	struct pd_why *w = s->why;
	int n = pd_why_edits(s->id, id);
	size_t at = w->n_suggestions;
	if (n >= FAR)
		return;
	while (at > 0 && s->edits[at - 1] > n)
		at--;
	if (at == PD_WHY_SUGGESTIONS)
		return;
	if (w->n_suggestions < PD_WHY_SUGGESTIONS)
		w->n_suggestions++;
	for (size_t i = w->n_suggestions - 1; i > at; i--) {
		w->suggestions[i] = w->suggestions[i - 1];
		s->edits[i] = s->edits[i - 1];
	}
	w->suggestions[at] = keep_span(w, id);
	s->edits[at] = n;
}

/* "some/where/crawl.warc.gz:53" without the folders */
static struct pd_span base_of(struct pd_span id)
{
	size_t n = pd_page_id_parse(id).file.n;
	while (n > 0 && id.p[n - 1] != '/')
		n--;
	return pd_span(id.p + n, id.n - n);
}

/* --- pairs --- */

/* Numbers in the order of numbers, "-" (the same text) before them. */
static uint64_t nearness(struct pd_span distance)
{
	uint64_t n;
	return pd_span_u64(distance, &n) ? n + 1 : 0;
}

static void add_near(struct pd_why *w, const struct pd_span *f, struct pd_span mark, bool other_is_b)
{
	struct pd_span id = f[other_is_b ? PD_PAIRS_ID_B : PD_PAIRS_ID_A], url = f[other_is_b ? PD_PAIRS_URL_B : PD_PAIRS_URL_A];
	size_t at = w->n_near;
	uint64_t near = nearness(f[PD_PAIRS_DISTANCE]);
	w->pairs++;
	while (at > 0 && (nearness(w->near[at - 1].distance) > near ||
			  (nearness(w->near[at - 1].distance) == near && pd_page_id_cmp(w->near[at - 1].id, id) > 0)))
		at--;
	if (at == PD_WHY_NEAR)
		return;
	if (w->n_near < PD_WHY_NEAR)
		w->n_near++;
	memmove(w->near + at + 1, w->near + at, (w->n_near - 1 - at) * sizeof *w->near);
	w->near[at] = (struct pd_why_near){ keep_span(w, id), keep_span(w, url), keep_span(w, f[PD_PAIRS_DISTANCE]), keep_span(w, f[PD_PAIRS_SIMILARITY]),
					    keep_span(w, f[PD_PAIRS_METHOD]),
					    mark.n ? keep_span(w, mark) : mark, false, { { { NULL, 0 } } } };
}

static void take_pair(void *ctx, const struct pd_span *f, struct pd_span mark)
{
	struct pd_why *w = ctx;
	if (pd_span_eq(f[PD_PAIRS_ID_A], w->id))
		add_near(w, f, mark, true);
	else if (pd_span_eq(f[PD_PAIRS_ID_B], w->id))
		add_near(w, f, mark, false);
}

/* --- verdicts --- */

static void note_page(struct why_search *s, const struct pd_span *f)
{
	if (!s->n_found++) {
		s->why->id = keep_span(s->why, f[PD_VERDICTS_ID]);
		s->cluster = keep_span(s->why, f[PD_VERDICTS_CLUSTER_ID]);
	}
	if (s->n_found <= LISTED)
		pd_buf_printf(&s->list, "%s%.*s", s->n_found > 1 ? ", " : "", (int)f[PD_VERDICTS_ID].n, f[PD_VERDICTS_ID].p);
}

static void look_for_page(void *ctx, const struct pd_span *f, struct pd_span mark)
{
	struct why_search *s = ctx;
	struct pd_span id = f[PD_VERDICTS_ID];
	if (s->url.p ? pd_span_eq(f[PD_VERDICTS_URL], s->url) : pd_span_eq(id, s->id))
		note_page(s, f);
	if (s->url.p || s->n_found)
		return;
	if (pd_span_eq(base_of(id), base_of(s->id)) && !s->n_by_base++)
		s->by_base = keep_span(s->why, id);
	suggest(s, id);
}

static void take_member(void *ctx, const struct pd_span *f, struct pd_span mark)
{
	struct why_search *s = ctx;
	struct pd_why *w = s->why;
	/* A store says "-" of what it does not keep: no two of those belong together. */
	bool same = s->cluster.p && (pd_span_is(s->cluster, "-") ? pd_span_eq(f[PD_VERDICTS_ID], w->id) :
				     pd_span_eq(f[PD_VERDICTS_CLUSTER_ID], s->cluster));
	if (same) {
		w->rows = pd_grow(w->rows, w->n, &w->cap, sizeof *w->rows);
		copy_row(w, f, &w->rows[w->n++]);
	}
	for (size_t i = 0; i < w->n_near; i++) {
		if (!pd_span_eq(w->near[i].id, f[PD_VERDICTS_ID]))
			continue;
		copy_row(w, f, &w->near[i].row);
		w->near[i].named = true;
	}
}

static const struct pd_why_row *row_of(const struct pd_why *w, struct pd_span id)
{
	for (size_t i = 0; i < w->n; i++)
		if (pd_span_eq(w->rows[i].f[PD_VERDICTS_ID], id))
			return &w->rows[i];
	return NULL;
}

/* Verdicts that somebody cut may lead nowhere, or in a circle: the chain then ends early. */
static void follow(struct pd_why *w)
{
	const struct pd_why_row *row = w->page = row_of(w, w->id);
	w->chain = pd_alloc((w->n + 1) * sizeof *w->chain);
	while (row && w->n_chain < w->n) {
		w->chain[w->n_chain++] = row;
		row = pd_span_is(row->f[PD_VERDICTS_VIA], "-") ? NULL : row_of(w, row->f[PD_VERDICTS_VIA]);
	}
}

/* The first reading: which page is it? */
static int find_page(struct why_search *s, const struct pd_why_options *o, struct pd_err *e)
{
	int status = read_rows(o->verdicts, "verdicts", pd_verdicts_columns, look_for_page, s, e);
	if (status)
		return status;
	if (o->url && s->n_found > 1)
		return pd_fail(e, PD_ERR_NOT_FOUND, "%llu pages of %s have this URL (%s%s): name one by its id",
			       (unsigned long long)s->n_found, o->verdicts, s->list.p, s->n_found > LISTED ? ", …" : "");
	if (o->url && !s->n_found)
		return pd_fail(e, PD_ERR_NOT_FOUND, "no page that %s names has this URL: it is kept, or it is not in these dumps",
			       o->verdicts);
	if (!s->n_found)
		s->why->id = s->n_by_base == 1 ? s->by_base : s->id;
	return PD_OK;
}

/* An id given with another path: read again with the one that the file has. */
static int settle_base(struct why_search *s, const struct pd_why_options *o, struct pd_err *e)
{
	if (s->n_found || s->n_by_base != 1)
		return PD_OK;
	s->id = s->by_base;
	s->why->n_suggestions = 0;
	return read_rows(o->verdicts, "verdicts", pd_verdicts_columns, look_for_page, s, e);
}

int pd_why_open(struct pd_why *w, const struct pd_why_options *o, struct pd_err *e)
{
	struct why_search s = { .why = w };
	*w = (struct pd_why){ 0 };
	s.id = escaped(w, o->id);
	s.url = escaped(w, o->url);
	int status = find_page(&s, o, e);
	if (!status)
		status = settle_base(&s, o, e);
	if (!status && o->pairs)
		status = read_rows(o->pairs, "pairs", pd_pairs_columns, take_pair, w, e);
	if (!status && (s.n_found || w->n_near))
		status = read_rows(o->verdicts, "verdicts", pd_verdicts_columns, take_member, &s, e);
	if (!status)
		follow(w);
	pd_buf_release(&s.list);
	return status;
}

void pd_why_release(struct pd_why *w)
{
	free(w->rows);
	free(w->chain);
	pd_arena_release(&w->arena);
	*w = (struct pd_why){ 0 };
}
