/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void (*no_memory)(void);
static _Thread_local jmp_buf *way_out;

void pd_out_of_memory_calls(void (*f)(void))
{
	no_memory = f;
}

void pd_out_of_memory_jumps(jmp_buf *to)
{
	way_out = to;
}

void pd_out_of_memory(void)
{
	jmp_buf *to = way_out;
	way_out = NULL;
	if (to)
		longjmp(*to, 1);
	if (no_memory)
		no_memory();
	fputs("pagededup: out of memory\n", stderr);
	abort();
}

void *pd_have(void *p)
{
	if (!p)
		pd_out_of_memory();
	return p;
}

void *pd_alloc(size_t n)
{
	return pd_have(malloc(n ? n : 1));
}

void *pd_zalloc(size_t n)
{
	return pd_have(calloc(1, n ? n : 1));
}

void *pd_realloc(void *p, size_t n)
{
	return pd_have(realloc(p, n ? n : 1));
}

char *pd_strndup(const char *p, size_t n)
{
	char *z = pd_alloc(n + 1);
	if (n)
		memcpy(z, p, n);
	z[n] = 0;
	return z;
}

char *pd_strdup(const char *z)
{
	return pd_strndup(z, strlen(z));
}

void *pd_grow(void *items, size_t n, size_t *cap, size_t elem)
{
	if (n < *cap)
		return items;
	size_t want = n + n / 2 + 16;
	if (want < n || want > SIZE_MAX / elem)
		pd_out_of_memory();
	items = pd_realloc(items, want * elem);
	*cap = want;
	return items;
}

/* --- huge pages --- */

#define HUGE_PAGE ((size_t)2 << 20)

void *pd_big_alloc(size_t n)
{
	void *p = NULL;
	if (n < 2 * HUGE_PAGE || posix_memalign(&p, HUGE_PAGE, n) != 0)
		return pd_alloc(n);
	madvise(p, n, MADV_HUGEPAGE);
	return p;
}

void *pd_big_at_least(void *p, size_t n, size_t *cap, size_t elem)
{
	if (n <= *cap)
		return p;
	free(p);
	*cap = n;
	return pd_big_alloc(n * elem);
}

void *pd_big_grow(void *items, size_t n, size_t *cap, size_t elem)
{
	if (n < *cap)
		return items;
	items = pd_grow(items, n, cap, elem);
	if (*cap * elem < 2 * HUGE_PAGE)
		return items;
	/* All of the mapping that holds it: in two parts, the kernel would not move it, and growing would be a copy. */
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)items & -page;
	uintptr_t end = ((uintptr_t)items + *cap * elem + page - 1) & -page;
	madvise((void *)first, end - first, MADV_HUGEPAGE);
	return items;
}

/* --- arenas --- */

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
