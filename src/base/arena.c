/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdlib.h>

#include "base/buf.h"

enum { BLOCK = 64 * 1024, KEEP = 1024 * 1024 };

struct pd_arena_block {
	struct pd_arena_block *next;
	size_t used, cap;
	_Alignas(max_align_t) char bytes[];
};

void pd_arena_release(struct pd_arena *a)
{
	while (a->head) {
		struct pd_arena_block *next = a->head->next;
		free(a->head);
		a->head = next;
	}
	a->total = 0;
}

/* The newest block stays when it is the only one or the arena is small; a page that needed many gives them back and
 * the next one starts with one block of their size, up to KEEP. */
void pd_arena_clear(struct pd_arena *a)
{
	if (!a->head)
		return;
	if (!a->head->next && a->head->cap <= KEEP) {
		a->head->used = 0;
		return;
	}
	size_t want = a->total < KEEP ? a->total : KEEP;
	pd_arena_release(a);
	pd_arena_alloc(a, want / 2);
	a->head->used = 0;
}

void *pd_arena_alloc(struct pd_arena *a, size_t n)
{
	size_t align = _Alignof(max_align_t);
	n = (n + align - 1) / align * align;
	struct pd_arena_block *b = a->head;
	if (!b || b->cap - b->used < n) {
		size_t cap = n > BLOCK ? n : BLOCK;
		b = pd_alloc(sizeof *b + cap);
		*b = (struct pd_arena_block){ .next = a->head, .cap = cap };
		a->head = b;
		a->total += cap;
	}
	void *p = b->bytes + b->used;
	b->used += n;
	return p;
}

struct pd_span pd_arena_copy(struct pd_arena *a, struct pd_span s)
{
	char *p = pd_arena_alloc(a, s.n + 1);
	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = 0;
	return pd_span(p, s.n);
}
