/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*end)(void);
static _Thread_local jmp_buf *way_out;

void pd_out_of_memory_calls(void (*f)(void))
{
	end = f;
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
	if (end)
		end();
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
