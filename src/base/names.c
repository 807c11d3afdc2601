/* SPDX-License-Identifier: MIT */
#include "base/names.h"

#include <stdlib.h>

#include "base/hash.h"

static uint64_t hash_of(const void *names, uint32_t number)
{
	struct pd_span s = ((const struct pd_names *)names)->v[number];
	return pd_hash64(s.p, s.n);
}

static bool is_name(const void *names, uint32_t number, const void *s)
{
	return pd_span_eq(((const struct pd_names *)names)->v[number], *(const struct pd_span *)s);
}

static uint32_t find(const struct pd_names *names, struct pd_span s, uint64_t hash)
{
	return pd_index_find(&names->index, hash, is_name, names, &s);
}

uint32_t pd_names_add(struct pd_names *names, struct pd_span s)
{
	uint64_t hash = pd_hash64(s.p, s.n);
	uint32_t number = find(names, s, hash);
	if (number != PD_NO_NAME)
		return number;
	names->v = pd_grow(names->v, names->n, &names->cap, sizeof *names->v);
	names->v[names->n] = pd_arena_copy(&names->arena, s);
	pd_index_add(&names->index, hash, hash_of, names);
	return (uint32_t)names->n++;
}

uint32_t pd_names_find(const struct pd_names *names, struct pd_span s)
{
	return find(names, s, pd_hash64(s.p, s.n));
}

void pd_names_release(struct pd_names *names)
{
	pd_arena_release(&names->arena);
	free(names->v);
	pd_index_release(&names->index);
	*names = (struct pd_names){ 0 };
}
