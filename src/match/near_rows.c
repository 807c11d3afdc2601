/* SPDX-License-Identifier: MIT */
#include "match/near_rows.h"

#include <stdlib.h>

#include "match/bands.h"

/* The sketches of the rows that take part, and which members those are. */
struct sketches {
	uint64_t *v;
	uint32_t *member;
	size_t n;
	struct pd_array memory[2];
};

static bool takes_part(const struct pd_links *l, uint32_t member)
{
	return l->all_pairs || l->side || l->scope == PD_SCOPE_OTHER_HOSTS || pd_groups_name(&l->groups, member) == member;
}

static void gather(struct sketches *s, const struct pd_rows *rows, const struct pd_row_set *set, const struct pd_links *l)
{
	size_t words = (size_t)pd_sketch_words(&rows->sketch), n = 0;
	for (size_t i = 0; i < set->n; i++)
		n += takes_part(l, (uint32_t)i);
	s->v = pd_array_room(&s->memory[0], rows->budget, (n + 1) * words * sizeof *s->v);
	s->member = pd_array_room(&s->memory[1], rows->budget, (n + 1) * sizeof *s->member);
	for (size_t i = 0; i < set->n; i++) {
		struct pd_sketch sketch;
		if (!takes_part(l, (uint32_t)i) || !pd_rows_sketch(rows, pd_set_row(set, (uint32_t)i), &sketch))
			continue;
		memcpy(s->v + s->n * words, sketch.w, words * sizeof *s->v);
		s->member[s->n++] = (uint32_t)i;
	}
}

int pd_near_rows_find(struct pd_near_rows *near, const struct pd_rows *rows, const struct pd_row_set *set,
		      const struct pd_links *links, const struct pd_match_options *o, struct pd_err *e)
{
	struct sketches s = { 0 };
	gather(&s, rows, set, links);
	int most = pd_bands_width_max(&rows->sketch);
	near->width = !o->band_width ? pd_bands_width(&rows->sketch, s.n) : o->band_width < most ? o->band_width : most;
	struct pd_bands bands = { .sketch = rows->sketch, .width = near->width, .window = PD_BANDS_WINDOW, .v = s.v, .n = s.n };
	/* A thread sorts one band of all sketches at a time, with a copy. */
	size_t threads = pd_budget_left(rows->budget) / 2 / (2 * sizeof(struct pd_item) * (s.n + 1));
	threads = threads < (size_t)o->threads ? threads : (size_t)o->threads;
	int status = pd_bands_join(&bands, &o->verify, (int)threads, rows->budget, &near->pairs, e);
	for (size_t i = 0; i < near->pairs.n; i++) {
		uint64_t *key = &near->pairs.v[i].key;
		*key = (uint64_t)s.member[*key >> 32] << 32 | s.member[(uint32_t)*key];
	}
	pd_array_release(&s.memory[0]);
	pd_array_release(&s.memory[1]);
	return status;
}

void pd_near_rows_release(struct pd_near_rows *near)
{
	pd_items_release(&near->pairs);
}

static bool in_scope(const struct pd_links *l, uint32_t a, uint32_t b)
{
	/* One of each side. */
	if (l->side && (l->side[pd_set_row(l->set, a)] | l->side[pd_set_row(l->set, b)]) != (PD_SIDE_A | PD_SIDE_B))
		return false;
	return l->scope == PD_SCOPE_ALL || (l->host[a] == l->host[b]) == (l->scope == PD_SCOPE_SAME_HOST);
}

static int distance_of(const struct pd_row_set *set, uint32_t a, uint32_t b)
{
	size_t words = (size_t)set->words;
	int d = 0;
	for (size_t w = 0; w < words; w++)
		d += __builtin_popcountll(set->keys[a * words + w] ^ set->keys[b * words + w]);
	return d;
}

/* Equal fingerprints are linked, or not, where they are grouped. */
size_t pd_near_rows_add(const struct pd_near_rows *near, size_t at, const struct pd_links *links, const struct pd_row_set *set,
			struct pd_partners *out)
{
	uint32_t a = (uint32_t)(near->pairs.v[at].key >> 32);
	for (; at < near->pairs.n && near->pairs.v[at].key >> 32 == a; at++) {
		uint32_t b = (uint32_t)near->pairs.v[at].key;
		int distance = distance_of(set, a, b);
		if (distance == 0 || !in_scope(links, a, b))
			continue;
		out->v = pd_grow(out->v, out->n, &out->cap, sizeof *out->v);
		out->v[out->n++] = (struct pd_partner){ .member = b, .distance = distance };
	}
	return at;
}
