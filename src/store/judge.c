/* SPDX-License-Identifier: MIT
 *
 * One page after the other; what segments say of them was asked for all of the batch before (judge_batch.c).
 */
#include "store/judge.h"

#include <stdlib.h>

#include "base/tsv.h"
#include "base/url.h"
#include "store/judge_batch.h"

const char *const pd_store_status_names[] = { "new", "kept", "duplicate", "replaced", NULL };

enum { NOT_NEAR = -2 };

static struct pd_store_match *add_match(struct pd_store_answer *a, struct pd_store_match m)
{
	a->matches = pd_grow(a->matches, a->n_matches, &a->cap, sizeof *a->matches);
	a->matches[a->n_matches] = m;
	return &a->matches[a->n_matches++];
}

static uint64_t host_of(struct pd_judge *j, struct pd_span text)
{
	pd_tsv_value(pd_store_text(text, PD_TEXT_URL), &j->hosts[0]);
	pd_url_host(pd_buf_span(&j->hosts[0]), &j->hosts[1]);
	return j->hosts[1].n ? pd_hash64(j->hosts[1].p, j->hosts[1].n) : 0;
}

static double similarity_of(const struct pd_store *s, const struct pd_store_page *a, const struct pd_store_page *b)
{
	struct pd_sketch x = { .present = true }, y = { .present = true };
	if (!(a->has & b->has & PD_HAS_SKETCH))
		return PD_SIMILARITY_UNKNOWN;
	memcpy(x.w, a->sketch, sizeof x.w);
	memcpy(y.w, b->sketch, sizeof y.w);
	return pd_sketch_similarity(&s->sketch, &x, &y);
}

/* The second look at a pair that is near: 1 it counts, 0 not, negative error. */
static int second_look(struct pd_judge *j, const struct pd_store_page *page, struct pd_store_match *m, struct pd_err *e)
{
	struct pd_store_page kept;
	if (pd_store_page(j->s, &m->at, false, &kept, e))
		return PD_ERR_FORMAT;
	m->similarity = similarity_of(j->s, page, &kept);
	enum pd_look look = pd_verify(&j->o.verify, m->similarity, m->distance);
	if (look != PD_LOOK_BY_HOST)
		return look == PD_LOOK_YES;
	if (pd_store_page(j->s, &m->at, true, &kept, e))
		return PD_ERR_FORMAT;
	uint64_t host = host_of(j, page->text);
	return pd_verify_hosts(&j->o.verify, m->similarity, host && host == host_of(j, kept.text));
}

static bool same_url(const struct pd_judge *j, const struct pd_store_page *page, const struct pd_store_page *kept)
{
	return j->o.same_url == PD_SAME_URL_UPDATE && page->hash[PD_BY_URL] &&
	       pd_span_eq(pd_store_text(page->text, PD_TEXT_URL), pd_store_text(kept->text, PD_TEXT_URL));
}

static int take_candidate(struct pd_judge *j, const struct pd_store_page *page, struct pd_store_place at, int distance,
			  struct pd_err *e)
{
	struct pd_store_match m = { .at = at, .distance = distance, .similarity = PD_SIMILARITY_UNKNOWN };
	if (pd_store_gone(j->s, &at))
		return PD_OK;
	int counts = distance < 0 ? 1 : second_look(j, page, &m, e);
	if (counts > 0)
		add_match(&j->answer, m);
	return counts < 0 ? counts : PD_OK;
}

static int take_near(struct pd_judge *j, const struct pd_store_page *page, size_t i, struct pd_err *e)
{
	int status = PD_OK;
	pd_judge_recent(j, page);
	for (size_t h = 0; !status && h < j->s->near.n; h++) {
		struct pd_near_hit hit = j->s->near.v[h];
		struct pd_store_place at = { j->s->recent.numbers[hit.row], PD_IN_LOG, hit.row };
		status = take_candidate(j, page, at, (int)hit.distance, e);
	}
	for (size_t h = j->hit_from[i]; !status && h < j->hit_from[i + 1]; h++) {
		struct pd_store_place at = { 0, j->hit_segment[h], j->hits[h].row };
		status = pd_segment_number(&j->s->segments[at.segment], at.row, &at.number, e);
		if (!status)
			status = take_candidate(j, page, at, (int)j->hits[h].distance, e);
	}
	return status;
}

static int take_same_text(struct pd_judge *j, const struct pd_store_page *page, struct pd_err *e)
{
	struct pd_store_page kept;
	j->places.n = 0;
	int status = pd_store_find(j->s, PD_BY_DIGEST, page->hash[PD_BY_DIGEST], UINT64_MAX, &j->places, e);
	for (size_t i = 0; !status && i < j->places.n; i++) {
		status = pd_store_page(j->s, &j->places.v[i], true, &kept, e);
		if (!status && pd_span_eq(pd_store_text(kept.text, PD_TEXT_TEXT_DIGEST), pd_store_text(page->text, PD_TEXT_TEXT_DIGEST)))
			status = take_candidate(j, page, j->places.v[i], -1, e);
	}
	return status;
}

static int nearest_first(const void *x, const void *y)
{
	const struct pd_store_match *a = x, *b = y;
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return a->at.number < b->at.number ? -1 : a->at.number > b->at.number;
}

/* Texts of the matches; with --same-url=update those of the page's own URL go behind the others. */
static int read_matches(struct pd_judge *j, const struct pd_store_page *page, struct pd_err *e)
{
	struct pd_store_answer *a = &j->answer;
	struct pd_store_page kept;
	qsort(a->matches, a->n_matches, sizeof *a->matches, nearest_first);
	for (size_t i = 0; i < a->n_matches; i++) {
		struct pd_store_match *m = &a->matches[i];
		if (pd_store_page(j->s, &m->at, true, &kept, e))
			return PD_ERR_FORMAT;
		m->same_url = same_url(j, page, &kept);
		m->text_at = a->texts.n;
		m->text_n = kept.text.n;
		pd_buf_add_span(&a->texts, kept.text);
	}
	return PD_OK;
}

static bool is_matched(const struct pd_store_answer *a, uint64_t number)
{
	for (size_t i = 0; i < a->n_matches; i++)
		if (a->matches[i].at.number == number)
			return true;
	return false;
}

/* Versions of the page's URL that are not near it. */
static int add_versions(struct pd_judge *j, const struct pd_store_page *page, struct pd_err *e)
{
	j->places.n = 0;
	int status = pd_store_find_text(j->s, PD_BY_URL, pd_store_text(page->text, PD_TEXT_URL), &j->places, e);
	for (size_t i = 0; !status && i < j->places.n; i++)
		if (!is_matched(&j->answer, j->places.v[i].number))
			add_match(&j->answer, (struct pd_store_match){ .at = j->places.v[i], .distance = NOT_NEAR,
								       .similarity = PD_SIMILARITY_UNKNOWN });
	return status;
}

/* Which matches make a duplicate of the page: all but versions of itself; those go to the end. */
static void part_versions(struct pd_store_answer *a)
{
	struct pd_store_match *own = pd_alloc((a->n_matches + 1) * sizeof *own);
	size_t n_own = 0, near = 0;
	for (size_t i = 0; i < a->n_matches; i++) {
		if (a->matches[i].same_url)
			own[n_own++] = a->matches[i];
		else
			a->matches[near++] = a->matches[i];
	}
	memcpy(a->matches + near, own, n_own * sizeof *own);
	a->n_near = near;
	free(own);
}

static int find_matches(struct pd_judge *j, const struct pd_store_page *page, size_t i, struct pd_err *e)
{
	struct pd_store_answer *a = &j->answer;
	int status = PD_OK;
	if (page->has & PD_HAS_PRINT)
		status = take_near(j, page, i, e);
	else if (page->hash[PD_BY_DIGEST])
		status = take_same_text(j, page, e);
	if (!status && j->o.same_url == PD_SAME_URL_UPDATE && page->hash[PD_BY_URL])
		status = add_versions(j, page, e);
	if (!a->n_matches)
		return status;
	if (!status)
		status = read_matches(j, page, e);
	part_versions(a);
	return status;
}

/* What goes when the page is kept: all that it matches, or only its older versions. */
static size_t mark_gone(struct pd_judge *j)
{
	struct pd_store_answer *a = &j->answer;
	size_t n = 0;
	for (size_t i = 0; i < a->n_matches; i++) {
		a->matches[i].gone = i >= a->n_near || j->o.on_duplicate == PD_DUPLICATE_REPLACE;
		if (!a->matches[i].gone)
			continue;
		j->gone = pd_grow(j->gone, n, &j->gone_cap, sizeof *j->gone);
		j->gone[n++] = a->matches[i].at.number;
	}
	return n;
}

static int decide(struct pd_judge *j, const struct pd_store_page *page, struct pd_err *e)
{
	struct pd_store_answer *a = &j->answer;
	bool duplicate = a->n_near > 0, stays = !duplicate || j->o.on_duplicate == PD_DUPLICATE_REPLACE;
	if (!j->o.keep || !stays) {
		a->status = duplicate ? PD_STORE_DUPLICATE : PD_STORE_NEW;
		return PD_OK;
	}
	size_t n_gone = mark_gone(j);
	a->status = PD_STORE_NEW;
	return pd_store_add(j->s, page, j->gone, n_gone, &a->number, e);
}

int pd_judge_page(struct pd_judge *j, const struct pd_store_page *page, size_t i, struct pd_err *e)
{
	struct pd_store_answer *a = &j->answer;
	struct pd_store_place at;
	int same = pd_store_find_same(j->s, page, &at, e);
	pd_buf_clear(&a->texts);
	a->n_matches = a->n_near = 0;
	a->number = 0;
	a->text = page->text;
	if (same > 0) {
		a->status = PD_STORE_KEPT;
		a->number = at.number;
	}
	if (same)
		return same < 0 ? same : PD_OK;
	int status = find_matches(j, page, i, e);
	return status ? status : decide(j, page, e);
}
