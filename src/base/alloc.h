/* SPDX-License-Identifier: MIT
 *
 * Memory: malloc and its like, which never return NULL, huge pages, and arenas, whose memory all dies together.
 *
 * Memory that cannot be had ends what is going on:
 *  - in the program: what is unfinished is removed (base/file.h), a message says so, exit 2, from whatever thread;
 *  - in a call of the library: the call is left (below), and returns PD_ERR_MEMORY;
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

#include <stddef.h>
#include <stdlib.h>

#include "base/span.h"

void *pd_alloc(size_t n);
void *pd_zalloc(size_t n);
void *pd_realloc(void *p, size_t n);
char *pd_strdup(const char *z);
char *pd_strndup(const char *p, size_t n);

/* Grows an array of `elem`-byte items so that item `n` fits; *cap counts items. */
void *pd_grow(void *items, size_t n, size_t *cap, size_t elem);

/* Asks for the memory at p, which will soon be read.  A function that does nothing else is one without effect to compilers, which leave
 * out calls of it, unless they must take it for one that does something. */
static inline __attribute__((always_inline)) void pd_prefetch(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("");
}

/* What another's function made; NULL means that it had no memory. */
void *pd_check_alloc(void *p);
_Noreturn void pd_out_of_memory(void);

/* The program, once, before it starts threads: what to do when there is none.  It does not return; it may be called by
 * several threads at a time. */
void pd_out_of_memory_calls(void (*end)(void));

/* --- calls that can be left in their midst ---
 *
 * A call of the library may find that there is no memory, or that it is no longer wanted, anywhere below, on any of its threads.
 * Then it is left: longjmp to where it began.  What it was at is in no state to be taken apart by those who built it, so memory has
 * an owner: all that is asked for inside the call is its owner's, which gives back at the end whatever is left.
 *
 * After a call was left its owner is broken.  What it owned may still be released in the usual way: memory that the owner does not
 * have was freed before, and freeing it again does nothing.
 *
 * Threads made below (base/threads.h) belong to the call.  Without an owner (the program) all of this costs a test. */

struct pd_owner;
struct pd_owner *pd_owner_new(void);	/* NULL: no memory */
/* With all that it has. */
void pd_owner_free(struct pd_owner *o);
bool pd_owner_is_broken(const struct pd_owner *o);

/* Runs f(ctx): its result, or what pd_call_abort was called with.  `stop` (may be NULL): once it is not 0 the call is left with
 * PD_ERR_STOPPED at the next pd_check_stop. */
int pd_call(struct pd_owner *o, const int *stop, int (*f)(void *ctx), void *ctx);
/* Ends the call of this thread, which must be in one. */
_Noreturn void pd_call_abort(int status);
void pd_check_stop(void);
/* The user's own function: what it asks for is not the call's. */
int pd_outside(int (*f)(void *ctx), void *ctx);

/* What else is to be undone when a call is left: files, threads, what other libraries made.  `u` lies in memory of the owner's, until
 * pd_undo_end, which comes in the reverse order of pd_undo_begin. */
struct pd_undo {
	void (*undo)(void *ctx);
	void *ctx;
	struct pd_undo *before;
};
void pd_undo_begin(struct pd_undo *u, void (*undo)(void *ctx), void *ctx);
void pd_undo_end(struct pd_undo *u);

/* For threads: what a call is, to be had where it is made and entered elsewhere; and a part of a call that ends with the status
 * that it was left with.  Outside of calls pd_try only runs f. */
struct pd_call {
	void *out;			/* jmp_buf; NULL: nowhere to go */
	struct pd_owner *owner;
	struct pd_undo **undo;		/* the last one begun; of the thread that made the call */
	const int *stop;
	const int *left;		/* of threads that work together: not 0 when one of them has left */
};
struct pd_call pd_call_get(void);
void pd_call_set(struct pd_call g);
int pd_try(void (*f)(void *ctx), void *ctx);

/* malloc and its like have no other caller than base/alloc.c; free has many.  The build includes this file before all others. */
void pd_free(void *p);
#define free pd_free

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
