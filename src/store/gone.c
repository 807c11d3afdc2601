/* SPDX-License-Identifier: MIT */
#include "store/gone.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int check(const struct pd_gone *g, uint64_t file, const char *name, struct pd_err *e)
{
	const uint8_t *p = g->map.p;
	size_t n = g->map.n;
	if (n < PD_GONE_HEAD + 8 || memcmp(p, PD_GONE_MAGIC, 8))
		return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset 0: not a list of pages that are gone", name);
	if (pd_get32(p + 8) > PD_STORE_VERSION)
		return pd_fail(e, PD_ERR_VERSION, "%s: of version %" PRIu32 "; this program knows version %d", name, pd_get32(p + 8),
			       PD_STORE_VERSION);
	if (pd_get64(p + n - 8) != pd_hash64_seed(p, n - 8, file) || pd_get64(p + 16) != file ||
	    (n - PD_GONE_HEAD - 8) % 8 || pd_get64(p + 24) != (n - PD_GONE_HEAD - 8) / 8)
		return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset 0: its checksum is another", name);
	return PD_OK;
}

int pd_gone_open(struct pd_gone *g, struct pd_io_map map, uint64_t file, const char *name, struct pd_err *e)
{
	*g = (struct pd_gone){ .map = map };
	int status = check(g, file, name, e);
	if (status) {
		pd_gone_release(g);
		return status;
	}
	g->old = (const uint64_t *)(map.p + PD_GONE_HEAD);
	g->n_old = (map.n - PD_GONE_HEAD - 8) / 8;
	return PD_OK;
}

void pd_gone_release(struct pd_gone *g)
{
	pd_io_unmap(&g->map);
	free(g->set);
	*g = (struct pd_gone){ 0 };
}

static bool has_old(const struct pd_gone *g, uint64_t number)
{
	size_t low = 0, high = g->n_old;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (g->old[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->n_old && g->old[low] == number;
}

/* Where the number is, or where it would go. */
static uint64_t *place(const struct pd_gone *g, uint64_t number)
{
	size_t i = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (g->cap - 1);
	while (g->set[i] && g->set[i] != number + 1)
		i = (i + 1) & (g->cap - 1);
	return &g->set[i];
}

bool pd_gone_has(const struct pd_gone *g, uint64_t number)
{
	return (g->n_new && *place(g, number)) || has_old(g, number);
}

static void grow(struct pd_gone *g)
{
	struct pd_gone bigger = { .cap = g->cap ? 2 * g->cap : 1024 };
	bigger.set = pd_zalloc(bigger.cap * sizeof *bigger.set);
	for (size_t i = 0; i < g->cap; i++)
		if (g->set[i])
			*place(&bigger, g->set[i] - 1) = g->set[i];
	free(g->set);
	g->set = bigger.set;
	g->cap = bigger.cap;
}

void pd_gone_add(struct pd_gone *g, uint64_t number)
{
	if (pd_gone_has(g, number))
		return;
	if (2 * (g->n_new + 1) > g->cap)
		grow(g);
	*place(g, number) = number + 1;
	g->n_new++;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

uint64_t *pd_gone_all(const struct pd_gone *g, size_t *n)
{
	uint64_t *v = pd_alloc((g->n_old + g->n_new + 1) * sizeof *v);
	*n = 0;
	for (; *n < g->n_old; ++*n)
		v[*n] = g->old[*n];
	for (size_t i = 0; i < g->cap; i++)
		if (g->set[i])
			v[(*n)++] = g->set[i] - 1;
	if (g->n_new)
		qsort(v, *n, sizeof *v, by_number);
	return v;
}

int pd_gone_write(struct pd_io *io, uint64_t file, const uint64_t *numbers, size_t n, struct pd_err *e)
{
	struct pd_io_file f;
	struct pd_buf b = { 0 };
	char name[PD_IO_NAME_MAX];
	snprintf(name, sizeof name, "gone-%" PRIu64, file);
	pd_buf_add(&b, PD_GONE_MAGIC, 8);
	pd_put32(&b, PD_STORE_VERSION);
	pd_put32(&b, 0);
	pd_put64(&b, file);
	pd_put64(&b, n);
	pd_buf_add(&b, numbers, n * sizeof *numbers);
	pd_put64(&b, pd_hash64_seed(b.p, b.n, file));
	int status = pd_io_create(io, name, &f, e);
	if (!status)
		status = pd_io_append(&f, b.p, b.n, e);
	if (!status)
		status = pd_io_sync(&f, e);
	pd_io_close(&f);
	pd_buf_release(&b);
	return status;
}
