/* SPDX-License-Identifier: MIT */
#include "base/names.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"

enum { FIRST_TABLE = 1 << 6 };

static size_t slot_of(const struct pd_names *names, struct pd_span s)
{
	size_t i = pd_hash64(s.p, s.n) & (names->table_cap - 1);
	while (names->table[i] != PD_NO_NAME && !pd_span_eq(names->v[names->table[i]], s))
		i = (i + 1) & (names->table_cap - 1);
	return i;
}

static void grow_table(struct pd_names *names)
{
	if (2 * (names->n + 1) <= names->table_cap)
		return;
	free(names->table);
	names->table_cap = names->table_cap ? 2 * names->table_cap : FIRST_TABLE;
	names->table = pd_alloc(names->table_cap * sizeof *names->table);
	memset(names->table, 0xFF, names->table_cap * sizeof *names->table);
	for (size_t i = 0; i < names->n; i++)
		names->table[slot_of(names, names->v[i])] = (uint32_t)i;
}

uint32_t pd_names_add(struct pd_names *names, struct pd_span s)
{
	grow_table(names);
	size_t slot = slot_of(names, s);
	if (names->table[slot] != PD_NO_NAME)
		return names->table[slot];
	names->v = pd_grow(names->v, names->n, &names->cap, sizeof *names->v);
	names->v[names->n] = pd_arena_copy(&names->arena, s);
	names->table[slot] = (uint32_t)names->n;
	return (uint32_t)names->n++;
}

uint32_t pd_names_find(const struct pd_names *names, struct pd_span s)
{
	return names->n ? names->table[slot_of(names, s)] : PD_NO_NAME;
}

void pd_names_release(struct pd_names *names)
{
	pd_arena_release(&names->arena);
	free(names->v);
	free(names->table);
	*names = (struct pd_names){ 0 };
}
