/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <sched.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#undef free

/* Exit status of an aborted call: as in base/err.h, which is above this file. */
enum { NO_MEMORY = -5, STOPPED = -2 };

static void (*no_memory)(void);
static _Thread_local struct pd_call going;
static _Thread_local int left_with;

void pd_out_of_memory_calls(void (*f)(void))
{
	no_memory = f;
}

void pd_out_of_memory(void)
{
	if (going.out)
		pd_call_abort(NO_MEMORY);
	if (no_memory)
		no_memory();
	fputs("pagededup: out of memory\n", stderr);
	abort();
}

void *pd_check_alloc(void *p)
{
	if (!p)
		pd_out_of_memory();
	return p;
}

/* --- owners: a set of addresses with open addressing; at most half of the slots are used --- */

struct pd_owner {
	char lock;
	bool broken;
	size_t n, cap; /* number of slots: a power of two, or 0 */
	void **slot;
};

static void lock(struct pd_owner *o)
{
	while (__atomic_test_and_set(&o->lock, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock(struct pd_owner *o)
{
	__atomic_clear(&o->lock, __ATOMIC_RELEASE);
}

static size_t slot_of(const struct pd_owner *o, const void *p)
{
	uint64_t hash = (uint64_t)(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15);
	return (size_t)(hash >> 32) & (o->cap - 1);
}

static void put(struct pd_owner *o, void *p)
{
	size_t i = slot_of(o, p);
	while (o->slot[i])
		i = (i + 1) & (o->cap - 1);
	o->slot[i] = p;
	o->n++;
}

/* Reserve room for one more address, so that a new allocation can always be recorded. */
static bool make_room(struct pd_owner *o)
{
	if (2 * (o->n + 1) <= o->cap)
		return true;
	struct pd_owner more = { .cap = o->cap ? 2 * o->cap : 256 };
	more.slot = calloc(more.cap, sizeof *more.slot);
	if (!more.slot)
		return false;
	for (size_t i = 0; i < o->cap; i++)
		if (o->slot[i])
			put(&more, o->slot[i]);
	free(o->slot);
	o->slot = more.slot;
	o->cap = more.cap;
	return true;
}

/* False: it does not have it. */
static bool drop(struct pd_owner *o, const void *p)
{
	size_t i = o->cap ? slot_of(o, p) : 0, mask = o->cap - 1;
	while (o->cap && o->slot[i] && o->slot[i] != p)
		i = (i + 1) & mask;
	if (!o->cap || !o->slot[i])
		return false;
	o->slot[i] = NULL;
	o->n--;
	for (size_t j = (i + 1) & mask; o->slot[j];
	     j = (j + 1) & mask) { /* Reinsert the addresses that follow the free slot in its chain. */
		void *moved = o->slot[j];
		o->slot[j] = NULL;
		o->n--;
		put(o, moved);
	}
	return true;
}

struct pd_owner *pd_owner_new(void)
{
	return calloc(1, sizeof(struct pd_owner));
}

void pd_owner_free(struct pd_owner *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->cap; i++)
		free(o->slot[i]);
	free(o->slot);
	free(o);
}

bool pd_owner_is_broken(const struct pd_owner *o)
{
	return o->broken;
}

/* Record that the block `p` of the owner (NULL: none) becomes, or will become, another address. */
static void *owned(void *p, size_t n, void *(*get)(void *p, size_t n))
{
	struct pd_owner *o = going.owner;
	if (!o)
		return pd_check_alloc(get(p, n));
	lock(o);
	void *q = NULL;
	bool room = make_room(o), had = room && p && drop(o, p);
	/* The block was freed when the call was aborted. */
	if (room && p && !had && o->broken)
		p = NULL;
	if (room)
		q = get(p, n);
	if (q)
		put(o, q);
	else if (had)
		put(o, p);
	unlock(o);
	return pd_check_alloc(q);
}

void pd_free(void *p)
{
	struct pd_owner *o = going.owner;
	if (o && p) {
		lock(o);
		bool had = drop(o, p);
		unlock(o);
		if (!had && o->broken)
			return;
	}
	free(p);
}

/* --- calls --- */

struct pd_call pd_call_get(void)
{
	return going;
}

void pd_call_set(struct pd_call g)
{
	going = g;
}

void pd_call_abort(int status)
{
	jmp_buf *out = going.out;
	left_with = status;
	longjmp(*out, 1);
}

void pd_check_stop(void)
{
	if (going.stop && __atomic_load_n(going.stop, __ATOMIC_RELAXED))
		pd_call_abort(STOPPED);
	if (going.left && __atomic_load_n(going.left, __ATOMIC_RELAXED))
		pd_call_abort(__atomic_load_n(going.left, __ATOMIC_RELAXED));
}

void pd_undo_begin(struct pd_undo *u, void (*undo)(void *ctx), void *ctx)
{
	*u = (struct pd_undo){ undo, ctx, going.undo ? *going.undo : NULL };
	if (going.undo)
		*going.undo = u;
}

void pd_undo_end(struct pd_undo *u)
{
	if (going.undo)
		*going.undo = u->before;
}

/* If one undo step fails, the next one is still tried. */
static void undo_all(struct pd_owner *o, struct pd_undo **last)
{
	jmp_buf here;
	going = (struct pd_call){ .out = &here, .owner = o };
	setjmp(here);
	while (*last) {
		struct pd_undo *u = *last;
		*last = u->before;
		u->undo(u->ctx);
	}
}

int pd_call(struct pd_owner *o, const int *stop, int (*f)(void *ctx), void *ctx)
{
	struct pd_call before = going;
	struct pd_undo *volatile last = NULL;
	jmp_buf here;
	int status;
	if (!setjmp(here)) {
		going = (struct pd_call){ .out = &here, .owner = o, .undo = (struct pd_undo **)&last, .stop = stop };
		status = f(ctx);
	} else {
		status = left_with;
		o->broken = true;
		undo_all(o, (struct pd_undo **)&last);
	}
	going = before;
	return status;
}

int pd_outside(int (*f)(void *ctx), void *ctx)
{
	struct pd_call before = going;
	going = (struct pd_call){ 0 };
	int status = f(ctx);
	going = before;
	return status;
}

int pd_try(void (*f)(void *ctx), void *ctx)
{
	struct pd_call before = going;
	jmp_buf here;
	int status = 0;
	if (!before.owner || !setjmp(here)) {
		if (before.owner)
			going.out = &here;
		f(ctx);
	} else {
		status = left_with;
	}
	going = before;
	return status;
}

/* --- */

static void *get(void *p, size_t n)
{
	return realloc(p, n ? n : 1);
}

static void *get_zeroes(void *p, size_t n)
{
	return calloc(1, n ? n : 1);
}

void *pd_alloc(size_t n)
{
	return owned(NULL, n, get);
}

void *pd_zalloc(size_t n)
{
	return owned(NULL, n, get_zeroes);
}

void *pd_realloc(void *p, size_t n)
{
	return owned(p, n, get);
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

static void *get_huge(void *old, size_t n)
{
	void *p = NULL;
	if (n < 2 * HUGE_PAGE || posix_memalign(&p, HUGE_PAGE, n) != 0)
		return get(NULL, n);
	madvise(p, n, MADV_HUGEPAGE);
	return p;
}

void *pd_big_alloc(size_t n)
{
	return owned(NULL, n, get_huge);
}

void *pd_big_at_least(void *p, size_t n, size_t *cap, size_t elem)
{
	if (n <= *cap)
		return p;
	pd_free(p);
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
	/* Advise huge pages for the whole mapping that contains the block.  If only a part were advised, the kernel
	 * would split the mapping, could not move it, and growing would be a copy. */
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
		pd_free(a->head);
		a->head = next;
	}
	a->total = 0;
}

/* Keep the newest block if it is the only one or if the arena is small.  If a page needed many blocks, free them;
 * the next page starts with one block of their total size, up to KEEP. */
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
