/* SPDX-License-Identifier: MIT
 *
 * Segments do not change while a batch is judged: they are asked for all of its pages at once, segment by segment.
 */
#include "store/judge_batch.h"

#include <stdlib.h>

enum { CHUNK = 4096, HITS_MANY = 1 << 20, SOON = 8 };

static void make_room(struct pd_judge *j, size_t n)
{
	size_t words = (size_t)j->s->m.bits / 64;
	if (n <= j->pages_cap)
		return;
	j->pages_cap = n;
	j->columns = pd_realloc(j->columns, (n * words + PD_SCAN_PAD) * sizeof *j->columns);
	j->page_of = pd_realloc(j->page_of, n * sizeof *j->page_of);
	j->hit_from = pd_realloc(j->hit_from, (n + 2) * sizeof *j->hit_from);
}

static struct pd_questions ask(struct pd_judge *j, const struct pd_store_page *pages, size_t n)
{
	struct pd_questions q = { .bits = j->s->m.bits, .k = j->o.k };
	for (int w = 0; w < q.bits / 64; w++)
		q.keys.w[w] = j->columns + (size_t)w * n;
	for (size_t i = 0; i < n; i++) {
		if (!(pages[i].has & PD_HAS_PRINT))
			continue;
		for (int w = 0; w < q.bits / 64; w++)
			q.keys.w[w][q.n] = pages[i].key.w[w];
		j->page_of[q.n++] = (uint32_t)i;
	}
	return q;
}

/* Hits of all segments, sorted by page: hit_from[i] .. hit_from[i + 1] - 1 belong to page i. */
static void sort_hits(struct pd_judge *j, size_t n, const size_t *ends)
{
	struct pd_near *near = &j->s->near;
	size_t *from = j->hit_from;
	memset(from, 0, (n + 2) * sizeof *from);
	if (near->n > j->hits_cap) {
		j->hits_cap = near->n * 2;
		j->hits = pd_realloc(j->hits, j->hits_cap * sizeof *j->hits);
		j->hit_segment = pd_realloc(j->hit_segment, j->hits_cap * sizeof *j->hit_segment);
	}
	for (size_t h = 0; h < near->n; h++)
		from[j->page_of[near->v[h].question] + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		from[i] += from[i - 1];
	uint32_t segment = 0;
	for (size_t h = 0; h < near->n; h++) {
		while (h >= ends[segment])
			segment++;
		size_t at = from[j->page_of[near->v[h].question] + 1]++;
		j->hits[at] = near->v[h];
		j->hit_segment[at] = segment;
	}
}

static int ask_segments(struct pd_judge *j, const struct pd_store_page *pages, size_t n, struct pd_err *e)
{
	struct pd_store *s = j->s;
	struct pd_questions q = ask(j, pages, n);
	size_t *ends = pd_alloc((s->m.n_segments + 1) * sizeof *ends);
	int status = PD_OK;
	s->near.n = 0;
	for (size_t i = 0; !status && i < s->m.n_segments; i++) {
		status = pd_near_segment(&s->near, &s->segments[i], &q, e);
		ends[i] = s->near.n;
	}
	if (!status)
		sort_hits(j, n, ends);
	free(ends);
	return status;
}

void pd_judge_recent(struct pd_judge *j, const struct pd_store_page *page)
{
	struct pd_questions q = { .n = 1, .bits = j->s->m.bits, .k = j->o.k };
	uint64_t key[PD_KEY_WORDS][1 + PD_SCAN_PAD];
	for (int w = 0; w < q.bits / 64; w++) {
		key[w][0] = page->key.w[w];
		q.keys.w[w] = key[w];
	}
	j->s->near.n = 0;
	pd_near_recent(&j->s->near, &j->s->recent, &q);
}

/* Many pages at once are fast; but each may be near a hundred thousand, and their hits must not fill the memory. */
static size_t next_chunk(size_t chunk, size_t hits)
{
	if (hits > HITS_MANY)
		return chunk > 8 ? chunk / 8 : 1;
	return chunk * 2 < CHUNK ? chunk * 2 : CHUNK;
}

/* Whether a page is kept already is asked of every segment, page by page: what that will read is fetched meanwhile. */
static void find_soon(const struct pd_store *s, const struct pd_store_page *pages, size_t n, size_t i)
{
	for (size_t segment = 0; segment < s->m.n_segments; segment++) {
		if (i + 2 * SOON < n)
			pd_segment_find_soon(&s->segments[segment], PD_BY_ID, pages[i + 2 * SOON].hash[PD_BY_ID], 0);
		if (i + SOON < n)
			pd_segment_find_soon(&s->segments[segment], PD_BY_ID, pages[i + SOON].hash[PD_BY_ID], 1);
	}
}

int pd_judge_batch(struct pd_judge *j, const struct pd_store_page *pages, size_t n, pd_judge_fn *each, void *ctx,
		   struct pd_err *e)
{
	int status = PD_OK;
	make_room(j, n < CHUNK ? n : CHUNK);
	if (!j->chunk)
		j->chunk = CHUNK;
	for (size_t m; !status && n; pages += m, n -= m) {
		m = n < j->chunk ? n : j->chunk;
		status = ask_segments(j, pages, m, e);
		for (size_t i = 0; !status && i < m; i++) {
			find_soon(j->s, pages, m, i);
			status = pd_judge_page(j, &pages[i], i, e);
			if (!status)
				status = each(ctx, &j->answer);
		}
		j->chunk = status ? CHUNK : next_chunk(j->chunk, j->hit_from[m]);
	}
	return status;
}

void pd_judge_release(struct pd_judge *j)
{
	free(j->columns);
	free(j->page_of);
	free(j->hits);
	free(j->hit_segment);
	free(j->hit_from);
	free(j->places.v);
	free(j->answer.matches);
	pd_buf_release(&j->answer.texts);
	pd_buf_release(&j->hosts[0]);
	pd_buf_release(&j->hosts[1]);
	free(j->gone);
	*j = (struct pd_judge){ 0 };
}
