/* SPDX-License-Identifier: MIT
 *
 * malloc and its like, which never return NULL.  Memory that cannot be had ends what is going on:
 *  - in the program: what is unfinished is removed (base/tempfile.h), a message says so, exit 2, from whatever thread;
 *  - in a call of the library: the call returns PD_ERR_MEMORY (src/api.c), and the context is good for nothing any more;
 *  - where nobody said what to do: abort().
 * Libraries that would hide it from us are given these functions, or are asked afterwards.
 */
#ifndef PD_BASE_ALLOC_H
#define PD_BASE_ALLOC_H

#include <setjmp.h>
#include <stddef.h>

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

#endif
