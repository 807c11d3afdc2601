/* SPDX-License-Identifier: MIT
 *
 * Memory: malloc and its like, which never return NULL, huge pages, and arenas, whose memory all dies together.
 *
 * Memory that cannot be had ends what is going on:
 *  - in the program: what is unfinished is removed (base/file.h), a message says so, exit 2, from whatever thread;
 *  - in a call of the library: the call returns PD_ERR_MEMORY (src/api.c), and the context is good for nothing any more;
 *  - where nobody said what to do: abort().
 * Libraries that would hide it from us are given these functions, or are asked afterwards.
 *
 * Arrays of many megabytes that are walked in no order are asked for in huge pages, where the kernel has them, so that a step
 * costs no page table.
 *
 * An arena hands out memory until `clear`: one per worker thread, cleared per page.  Blocks are kept at `clear` (up to a
 * bound) and used again.  Memory is aligned for any type.
 */
#ifndef PD_BASE_ALLOC_H
#define PD_BASE_ALLOC_H

#include <setjmp.h>
#include <stddef.h>

#include "base/span.h"

void *pd_alloc(size_t n);
void *pd_zalloc(size_t n);
void *pd_realloc(void *p, size_t n);
char *pd_strdup(const char *z);
char *pd_strndup(const char *p, size_t n);

/* Grows an array of `elem`-byte items so that item `n` fits; *cap counts items. */
void *pd_grow(void *items, size_t n, size_t *cap, size_t elem);

/* What another's function made; NULL means that it had no memory. */
void *pd_have(void *p);
_Noreturn void pd_out_of_memory(void);

/* The program, once, before it starts threads: what to do when there is none.  It does not return; it may be called by
 * several threads at a time. */
void pd_out_of_memory_calls(void (*end)(void));
/* The library: where this thread goes on instead (longjmp with 1), once; NULL: nowhere. */
void pd_out_of_memory_jumps(jmp_buf *to);

/* --- huge pages --- */

/* In huge pages; freed with free(). */
void *pd_big_alloc(size_t n);
/* An array of at least n elements: `p`, which has *cap, or a new one; what was in it is lost. */
void *pd_big_at_least(void *p, size_t n, size_t *cap, size_t elem);
/* pd_grow for such arrays. */
void *pd_big_grow(void *items, size_t n, size_t *cap, size_t elem);

/* --- memory that all dies together --- */

struct pd_arena_block;

struct pd_arena {
	struct pd_arena_block *head;	/* block in use, then those that are full */
	size_t total;			/* bytes of all blocks */
};

void pd_arena_clear(struct pd_arena *a);
void pd_arena_release(struct pd_arena *a);
void *pd_arena_alloc(struct pd_arena *a, size_t n);
/* A copy of the bytes, with a NUL after them that the span does not count. */
struct pd_span pd_arena_copy(struct pd_arena *a, struct pd_span s);

#endif
