/* SPDX-License-Identifier: MIT */
#include "store/tombstones.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"

static int check_file(const struct pd_store_tombstones *t, uint64_t file, const char *name, struct pd_err *e)
{
	const uint8_t *p = t->map.p;
	size_t n = t->map.n;
	if (n < PD_STORE_TOMBSTONES_HEAD + 8 || memcmp(p, PD_STORE_TOMBSTONES_MAGIC, 8))
		return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset 0: not a list of tombstones", name);
	if (pd_store_get32(p + 8) > PD_STORE_VERSION)
		return pd_fail(e, PD_ERR_VERSION, "%s: version %" PRIu32 "; this program knows version %d", name,
			       pd_store_get32(p + 8), PD_STORE_VERSION);
	if (pd_store_get64(p + n - 8) != pd_hash64_seed(p, n - 8, file) || pd_store_get64(p + 16) != file ||
	    (n - PD_STORE_TOMBSTONES_HEAD - 8) % 8 || pd_store_get64(p + 24) != (n - PD_STORE_TOMBSTONES_HEAD - 8) / 8)
		return pd_fail(e, PD_ERR_FORMAT, "%s: damaged at offset 0: its checksum does not match", name);
	return PD_OK;
}

int pd_store_tombstones_open(struct pd_store_tombstones *t, struct pd_store_io_map map, uint64_t file, const char *name,
			     struct pd_err *e)
{
	*t = (struct pd_store_tombstones){ .map = map };
	int status = check_file(t, file, name, e);
	if (status) {
		pd_store_tombstones_release(t);
		return status;
	}
	t->old = (const uint64_t *)(map.p + PD_STORE_TOMBSTONES_HEAD);
	t->n_old = (map.n - PD_STORE_TOMBSTONES_HEAD - 8) / 8;
	return PD_OK;
}

void pd_store_tombstones_release(struct pd_store_tombstones *t)
{
	pd_store_io_unmap(&t->map);
	pd_map_release(&t->fresh);
	*t = (struct pd_store_tombstones){ 0 };
}

bool pd_store_tombstones_has(const struct pd_store_tombstones *t, uint64_t number)
{
	if (pd_map_has(&t->fresh, number))
		return true;
	size_t at = PD_LOWER_BOUND(i, 0, t->n_old, t->old[i] < number);
	return at < t->n_old && t->old[at] == number;
}

void pd_store_tombstones_add(struct pd_store_tombstones *t, uint64_t number)
{
	if (!pd_store_tombstones_has(t, number))
		pd_map_add(&t->fresh, number);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

uint64_t *pd_store_tombstones_all(const struct pd_store_tombstones *t, size_t *n)
{
	*n = t->n_old + t->fresh.n;
	uint64_t *v = pd_alloc((*n + 1) * sizeof *v);
	if (t->n_old)
		memcpy(v, t->old, t->n_old * sizeof *v);
	pd_map_keys(&t->fresh, v + t->n_old);
	if (t->fresh.n)
		qsort(v, *n, sizeof *v, by_number);
	return v;
}

int pd_store_tombstones_write(struct pd_store_io *io, uint64_t file, const uint64_t *numbers, size_t n,
			      struct pd_err *e)
{
	struct pd_store_io_file f;
	struct pd_buf b = { 0 };
	char name[PD_STORE_IO_NAME_MAX];
	snprintf(name, sizeof name, "gone-%" PRIu64, file);
	pd_buf_add(&b, PD_STORE_TOMBSTONES_MAGIC, 8);
	pd_store_put32(&b, PD_STORE_VERSION);
	pd_store_put32(&b, 0);
	pd_store_put64(&b, file);
	pd_store_put64(&b, n);
	pd_buf_add(&b, numbers, n * sizeof *numbers);
	pd_store_put64(&b, pd_hash64_seed(b.p, b.n, file));
	int status = pd_store_io_create(io, name, &f, e);
	if (!status)
		status = pd_store_io_append(&f, b.p, b.n, e);
	if (!status)
		status = pd_store_io_sync(&f, e);
	pd_store_io_close(&f);
	pd_buf_release(&b);
	return status;
}
