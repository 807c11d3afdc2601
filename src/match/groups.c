/* SPDX-License-Identifier: MIT */
#include "match/groups.h"

#include <stdlib.h>

static size_t n_words(const struct pd_groups *g)
{
	return (g->n_rows + 63) / 64;
}

static void set_crowded(struct pd_groups *g, uint32_t row)
{
	g->crowded[row / 64] |= UINT64_C(1) << (row % 64);
}

/* Crowded rows before `row`. */
static size_t rank_of(const struct pd_groups *g, uint32_t row)
{
	size_t word = row / 64, at = word / PD_GROUPS_RANKED, n = g->rank[at];
	for (size_t i = at * PD_GROUPS_RANKED; i < word; i++)
		n += (size_t)__builtin_popcountll(g->crowded[i]);
	return n + (size_t)__builtin_popcountll(g->crowded[word] & ((UINT64_C(1) << (row % 64)) - 1));
}

static size_t count_crowds(const struct pd_items *followers)
{
	size_t n = 0;
	for (size_t i = 0; i < followers->n; i++)
		n += !i || followers->v[i].key >> 32 != followers->v[i - 1].key >> 32;
	return n;
}

static void list_crowds(struct pd_groups *g, const struct pd_items *followers)
{
	uint32_t n = 0, crowd = 0;
	for (size_t i = 0; i < followers->n; i++) {
		uint32_t first = (uint32_t)(followers->v[i].key >> 32);
		if (!i || first != followers->v[i - 1].key >> 32) {
			g->start[crowd++] = n;
			set_crowded(g, first);
			g->rows[n++] = first;
		}
		g->rows[n] = (uint32_t)followers->v[i].key;
		set_crowded(g, g->rows[n++]);
	}
	g->start[crowd] = n;
}

static void rank_rows(struct pd_groups *g)
{
	uint32_t n = 0;
	for (size_t i = 0; i < n_words(g); i++) {
		if (i % PD_GROUPS_RANKED == 0)
			g->rank[i / PD_GROUPS_RANKED] = n;
		n += (uint32_t)__builtin_popcountll(g->crowded[i]);
	}
	for (size_t c = 0; c < g->n_crowds; c++)
		for (uint32_t i = g->start[c]; i < g->start[c + 1]; i++)
			g->crowd[rank_of(g, g->rows[i])] = (uint32_t)c;
}

void pd_groups_make(struct pd_groups *g, size_t n_rows, const struct pd_items *followers, struct pd_budget *budget)
{
	pd_groups_release(g);
	g->n_rows = n_rows;
	g->n_groups = n_rows - followers->n;
	g->n_crowds = count_crowds(followers);
	if (!g->n_crowds)
		return;
	size_t n = followers->n + g->n_crowds;
	g->start = pd_array_room(&g->memory[0], budget, (g->n_crowds + 1) * sizeof *g->start);
	g->rows = pd_array_room(&g->memory[1], budget, n * sizeof *g->rows);
	g->crowd = pd_array_room(&g->memory[2], budget, n * sizeof *g->crowd);
	g->crowded = pd_zalloc(n_words(g) * sizeof *g->crowded);
	g->rank = pd_alloc((n_words(g) / PD_GROUPS_RANKED + 1) * sizeof *g->rank);
	list_crowds(g, followers);
	rank_rows(g);
}

uint32_t pd_groups_crowd(const struct pd_groups *g, uint32_t row)
{
	return g->crowd[rank_of(g, row)];
}

uint32_t pd_groups_next(const struct pd_groups *g, uint32_t row)
{
	if (!g->n_crowds || row >= g->n_rows)
		return UINT32_MAX;
	size_t word = row / 64;
	uint64_t bits = g->crowded[word] & (~UINT64_C(0) << (row % 64));
	while (!bits && ++word < n_words(g))
		bits = g->crowded[word];
	return bits ? (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits) : UINT32_MAX;
}

uint32_t *pd_groups_names(const struct pd_groups *g, struct pd_array *out, struct pd_budget *budget)
{
	if (!g->n_crowds)
		return NULL;
	uint32_t *names = pd_array_room(out, budget, g->n_groups * sizeof *names);
	size_t n = 0;
	for (size_t row = 0; row < g->n_rows; row++)
		if (pd_groups_name(g, (uint32_t)row) == row)
			names[n++] = (uint32_t)row;
	return names;
}

void pd_groups_release(struct pd_groups *g)
{
	for (int i = 0; i < 3; i++)
		pd_array_release(&g->memory[i]);
	free(g->crowded);
	free(g->rank);
	*g = (struct pd_groups){ 0 };
}
