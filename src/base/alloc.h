/* SPDX-License-Identifier: MIT
 *
 * Memory: malloc and related functions that never return NULL, huge pages, and arenas.
 *
 * If memory cannot be allocated:
 * - in the program: temporary files are removed (base/file.h), a message is printed, and the process exits with 2,
 * from any thread;
 * - in a call of the library: the call is aborted (below) and returns PD_ERR_MEMORY;
 * - if no handler is set: abort().
 * Libraries that hide the failure are given these functions, or their state is checked afterwards.
 *
 * Arrays of many megabytes that are accessed in random order use huge pages, if the kernel has them, to avoid page
 * table walks.
 *
 * An arena allocates memory that is freed by one `clear`: each worker thread has one and clears it after each page.
 * `clear` keeps blocks up to a limit for the next page.  Memory is aligned for any type.
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

/* Prefetch the memory at p.  The asm statement is needed because compilers drop calls of a function without a
 * visible effect. */
static inline __attribute__((always_inline)) void pd_prefetch(const void *p)
{
	__builtin_prefetch(p);
	__asm__ volatile("");
}

/* Check the result of another library's allocation; NULL means that there was no memory. */
void *pd_check_alloc(void *p);
_Noreturn void pd_out_of_memory(void);

/* Set the handler for exhausted memory, once, before the program starts threads.  It must not return.  Several
 * threads may call it at the same time. */
void pd_out_of_memory_calls(void (*end)(void));

/* --- calls that can be aborted ---
 *
 * A call of the library can run out of memory or be cancelled at any depth and on any of its threads.  It is then
 * aborted with longjmp to its start.  The objects of the call are in an unknown state and cannot be released by
 * their own functions.  Therefore all memory that is allocated inside a call belongs to an owner, which frees the
 * remaining blocks at the end.
 *
 * After an abort the owner is broken.  Its objects may still be released in the usual way: freeing a block that the
 * owner does not have does nothing, because the block was freed before.  Threads made below (base/threads.h) belong
 * to the call.  Without an owner (in the program) all of this costs one test. */

struct pd_owner;
struct pd_owner *pd_owner_new(void); /* NULL: no memory */
/* With all that it has. */
void pd_owner_free(struct pd_owner *o);
bool pd_owner_is_broken(const struct pd_owner *o);

/* Run f(ctx) and return its result, or the status passed to pd_call_abort.  If `stop` is not NULL and becomes
 * non-zero, the next pd_check_stop aborts the call with PD_ERR_STOPPED. */
int pd_call(struct pd_owner *o, const int *stop, int (*f)(void *ctx), void *ctx);
/* Ends the call of this thread, which must be in one. */
_Noreturn void pd_call_abort(int status);
void pd_check_stop(void);
/* Run a callback of the user; its memory does not belong to the call. */
int pd_outside(int (*f)(void *ctx), void *ctx);

/* Register another action to undo if the call is aborted: for files, threads, and objects of other libraries.  `u`
 * is memory of the owner until pd_undo_end.  Calls of pd_undo_end come in the reverse order of pd_undo_begin. */
struct pd_undo {
	void (*undo)(void *ctx);
	void *ctx;
	struct pd_undo *before;
};
void pd_undo_begin(struct pd_undo *u, void (*undo)(void *ctx), void *ctx);
void pd_undo_end(struct pd_undo *u);

/* For threads: get the call in the parent thread and enter it in the new thread.  pd_try runs a part of a call and
 * returns the status with which it was aborted; outside of calls it only runs f. */
struct pd_call {
	void *out; /* jmp_buf; NULL: there is no call to abort */
	struct pd_owner *owner;
	struct pd_undo **undo; /* the last one begun; of the thread that made the call */
	const int *stop;
	const int *left; /* shared by threads that work together: not 0 if one of them aborted */
};
struct pd_call pd_call_get(void);
void pd_call_set(struct pd_call g);
int pd_try(void (*f)(void *ctx), void *ctx);

/* Only base/alloc.c calls malloc and related functions; many places call free.  The build includes this file before
 * all others. */
void pd_free(void *p);
#define free pd_free

/* --- huge pages --- */

/* In huge pages; freed with free(). */
void *pd_big_alloc(size_t n);
/* Return an array of at least n elements: `p`, which has *cap, or a new one. The contents are lost. */
void *pd_big_at_least(void *p, size_t n, size_t *cap, size_t elem);
/* pd_grow for such arrays. */
void *pd_big_grow(void *items, size_t n, size_t *cap, size_t elem);

/* --- arenas --- */

struct pd_arena_block;

struct pd_arena {
	struct pd_arena_block *head; /* block in use, followed by full blocks */
	size_t total;		     /* bytes of all blocks */
};

void pd_arena_clear(struct pd_arena *a);
void pd_arena_release(struct pd_arena *a);
void *pd_arena_alloc(struct pd_arena *a, size_t n);
/* A copy of the bytes, with a NUL after them that the span does not count. */
struct pd_span pd_arena_copy(struct pd_arena *a, struct pd_span s);

#endif
