/* SPDX-License-Identifier: MIT */
#include "store/keytable.h"

#include <inttypes.h>
#include <lmdb.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"

const char *const pd_store_keys_names[] = { "-", "lmdb", "bloom", NULL };

#define SUMS_MAGIC "\x89PDSUM\r\n"
enum { SUMS_HEAD = 32, BLOCK = 16384, AT_ONCE = 100000 };

struct pd_store_keytable {
	struct pd_store_keytable_options o;
	char *name; /* for messages */
	uint64_t file;
	struct pd_store_io_map data, sums;
	uint8_t *seen; /* by block: its checksum was right */
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
};

/* --- checksums --- */

static uint64_t sum_of(const uint8_t *p, size_t n, uint64_t file, uint64_t block)
{
	return pd_hash64_seed(p, n, file << 32 ^ block);
}

static int damaged(const struct pd_store_keytable *t, const char *kind, uint64_t at, const char *what, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_FORMAT, "%s%s-%" PRIu64 ": damaged at offset %" PRIu64 ": %s", t->name, kind, t->file, at, what);
}

static size_t blocks_of(size_t bytes)
{
	return bytes / BLOCK + (bytes % BLOCK != 0);
}

static int check_sums(const struct pd_store_keytable *t, struct pd_err *e)
{
	const uint8_t *p = t->sums.p;
	size_t n = t->sums.n;
	if (n < SUMS_HEAD + 8 || memcmp(p, SUMS_MAGIC, 8))
		return damaged(t, "sums", 0, "not a file of checksums", e);
	if (pd_store_get32(p + 8) > PD_STORE_VERSION)
		return pd_fail(e, PD_ERR_VERSION, "%ssums-%" PRIu64 ": version %" PRIu32 "; this program knows version %d", t->name,
			       t->file, pd_store_get32(p + 8), PD_STORE_VERSION);
	if (pd_store_get64(p + n - 8) != pd_hash64_seed(p, n - 8, t->file) || pd_store_get32(p + 12) != BLOCK ||
	    pd_store_get64(p + 16) != t->file || n != SUMS_HEAD + 8 + 8 * blocks_of(pd_store_get64(p + 24)))
		return damaged(t, "sums", 0, "its checksum does not match", e);
	if (pd_store_get64(p + 24) != t->data.n)
		return damaged(t, "keys", t->data.n < pd_store_get64(p + 24) ? t->data.n : pd_store_get64(p + 24),
			       "it has another length", e);
	return PD_OK;
}

static int check_block(struct pd_store_keytable *t, uint64_t block, struct pd_err *e)
{
	uint64_t at = block * BLOCK, n = t->data.n - at < BLOCK ? t->data.n - at : BLOCK;
	if (t->seen[block])
		return PD_OK;
	if (sum_of(t->data.p + at, n, t->file, block) != pd_store_get64(t->sums.p + SUMS_HEAD + 8 * block))
		return damaged(t, "keys", at, "the checksum of a block is another", e);
	t->seen[block] = 1;
	return PD_OK;
}

static int check_all(struct pd_store_keytable *t, struct pd_err *e)
{
	int status = PD_OK;
	for (uint64_t b = 0; !status && b < blocks_of(t->data.n); b++)
		status = check_block(t, b, e);
	return status;
}

/* Header of keys-N on disk. */
static int write_sums(struct pd_store_io *io, uint64_t file, struct pd_err *e)
{
	struct pd_store_io_map data;
	struct pd_buf sums = { 0 };
	char name[PD_STORE_IO_NAME_MAX];
	pd_store_io_name(io, "keys", file, name, NULL);
	int status = pd_store_io_map(io, name, &data, e);
	if (status)
		return status;
	pd_buf_add(&sums, SUMS_MAGIC, 8);
	pd_store_put32(&sums, PD_STORE_VERSION);
	pd_store_put32(&sums, BLOCK);
	pd_store_put64(&sums, file);
	pd_store_put64(&sums, data.n);
	for (size_t b = 0; b < blocks_of(data.n); b++)
		pd_store_put64(&sums, sum_of(data.p + b * BLOCK, data.n - b * BLOCK < BLOCK ? data.n - b * BLOCK : BLOCK, file, b));
	pd_store_put64(&sums, pd_hash64_seed(sums.p, sums.n, file));
	pd_store_io_unmap(&data);
	pd_store_io_name(io, "sums", file, name, NULL);
	status = pd_store_io_write(io, name, sums.p, sums.n, e);
	pd_buf_release(&sums);
	return status;
}

/* --- opening --- */

static int fail_lmdb(int rc, const char *verb, const char *path, struct pd_err *e)
{
	return pd_fail(e, PD_ERR_SYSTEM, "cannot %s %s: %s", verb, path, mdb_strerror(rc));
}

/* Written once and read only: no lock file, and a map as long as the file. */
static int open_lmdb(struct pd_store_keytable *t, const struct pd_store_io *io, struct pd_err *e)
{
	char name[PD_STORE_IO_NAME_MAX];
	struct pd_buf path = { 0 };
	pd_store_io_name(io, "keys", t->file, name, &path);
	int rc = mdb_env_create(&t->env);
	if (!rc)
		rc = mdb_env_set_mapsize(t->env, t->data.n);
	if (!rc)
		rc = mdb_env_open(t->env, path.p, MDB_RDONLY | MDB_NOSUBDIR | MDB_NOLOCK, 0666);
	if (!rc)
		rc = mdb_txn_begin(t->env, NULL, MDB_RDONLY, &t->txn);
	if (!rc)
		rc = mdb_dbi_open(t->txn, NULL, 0, &t->dbi);
	int status = rc ? fail_lmdb(rc, "open", path.p, e) : PD_OK;
	pd_buf_release(&path);
	return status;
}

int pd_store_keytable_open(struct pd_store_keytable **out, const struct pd_store_io *io, const struct pd_store_keytable_options *o,
			   uint64_t file, struct pd_err *e)
{
	struct pd_store_keytable *t = pd_zalloc(sizeof *t);
	char keys[PD_STORE_IO_NAME_MAX], sums[PD_STORE_IO_NAME_MAX];
	struct pd_buf folder = { 0 };
	pd_buf_printf(&folder, "%s/", io->dir);
	*t = (struct pd_store_keytable){ .o = *o, .file = file, .name = folder.p };
	pd_store_io_name(io, "keys", file, keys, NULL);
	pd_store_io_name(io, "sums", file, sums, NULL);
	int status = pd_store_io_map(io, keys, &t->data, e);
	if (!status)
		status = pd_store_io_map(io, sums, &t->sums, e);
	if (!status)
		status = check_sums(t, e);
	if (!status)
		t->seen = pd_zalloc(blocks_of(t->data.n) + 1);
	if (!status && o->kind == PD_STORE_KEYS_BLOOM && t->data.n != (o->bits / 64 + 1) * 8)
		status = damaged(t, "keys", 0, "a filter of another size", e);
	if (!status && o->kind == PD_STORE_KEYS_LMDB)
		status = check_all(t, e);
	if (!status && o->kind == PD_STORE_KEYS_LMDB)
		status = open_lmdb(t, io, e);
	if (!status)
		*out = t;
	else
		pd_store_keytable_close(t);
	return status;
}

void pd_store_keytable_close(struct pd_store_keytable *t)
{
	if (!t)
		return;
	if (t->txn)
		mdb_txn_abort(t->txn);
	if (t->env)
		mdb_env_close(t->env);
	pd_store_io_unmap(&t->data);
	pd_store_io_unmap(&t->sums);
	free(t->seen);
	free(t->name);
	free(t);
}

int pd_store_keytable_verify(struct pd_store_keytable *t, struct pd_err *e)
{
	return check_all(t, e);
}

/* --- asking --- */

static int find_bits(struct pd_store_keytable *t, struct pd_span key, struct pd_err *e)
{
	uint64_t at[PD_BLOOM_HASHES_MAX];
	pd_bloom_places(key, t->o.bits, t->o.hashes, at);
	for (int i = 0; i < t->o.hashes; i++) {
		if (check_block(t, at[i] / 8 / BLOCK, e))
			return PD_ERR_FORMAT;
		if (!(t->data.p[at[i] / 8] >> at[i] % 8 & 1))
			return 0;
	}
	return 1;
}

int pd_store_keytable_find(struct pd_store_keytable *t, struct pd_span key, struct pd_span *id, struct pd_err *e)
{
	MDB_val k = { key.n, (void *)(uintptr_t)key.p }, v;
	*id = pd_span(NULL, 0);
	if (t->o.kind == PD_STORE_KEYS_BLOOM)
		return find_bits(t, key, e);
	int rc = mdb_get(t->txn, t->dbi, &k, &v);
	if (rc == MDB_NOTFOUND)
		return 0;
	if (rc)
		return fail_lmdb(rc, "read", t->name, e);
	*id = pd_span(v.mv_data, v.mv_size);
	return 1;
}

enum { PROBES = 1000000 }; /* invented keys, to measure the share that a filter calls seen */

/* The rate of false answers with n different keys in a filter: (1 - e^(-k n / bits))^k. */
static double false_rate(uint64_t bits, int hashes, uint64_t n)
{
	return pow(-expm1(-(double)hashes * (double)n / (double)bits), hashes);
}

static int measure_false_rate(struct pd_store_keytable *t, double *out, struct pd_err *e)
{
	uint64_t hits = 0;
	for (uint64_t i = 0; i < PROBES; i++) {
		char key[32] = { (char)0xff }; /* no method has such a place */
		struct pd_span id;
		memcpy(key + 1, &i, sizeof i);
		int found = pd_store_keytable_find(t, pd_span(key, sizeof key), &id, e);
		if (found < 0)
			return found;
		hits += (uint64_t)found;
	}
	*out = (double)hits / PROBES;
	return PD_OK;
}

int pd_store_keytable_measure(struct pd_store_keytable *t, uint64_t n_keys, struct pd_store_keytable_size *out, struct pd_err *e)
{
	*out = (struct pd_store_keytable_size){ .bytes = t->data.n + t->sums.n };
	if (t->o.kind != PD_STORE_KEYS_BLOOM)
		return PD_OK;
	out->false_computed = false_rate(t->o.bits, t->o.hashes, n_keys);
	return measure_false_rate(t, &out->false_measured, e);
}

/* --- writing --- */

static int write_bloom(struct pd_store_io *io, const struct pd_store_keytable_options *o, uint64_t file,
		       struct pd_store_keytable *old, const struct pd_store_new_key *keys, size_t n_keys, uint64_t *n,
		       struct pd_err *e)
{
	char name[PD_STORE_IO_NAME_MAX];
	size_t bytes = (size_t)(o->bits / 64 + 1) * 8;
	int status = old ? check_all(old, e) : PD_OK;
	if (status)
		return status;
	uint8_t *filter = pd_zalloc(bytes);
	if (old)
		memcpy(filter, old->data.p, bytes);
	for (size_t i = 0; i < n_keys; i++) {
		uint64_t at[PD_BLOOM_HASHES_MAX];
		bool fresh = false;
		pd_bloom_places(keys[i].key, o->bits, o->hashes, at);
		for (int h = 0; h < o->hashes; h++) {
			fresh |= !(filter[at[h] / 8] >> at[h] % 8 & 1);
			filter[at[h] / 8] |= (uint8_t)(1 << at[h] % 8);
		}
		*n += fresh;
	}
	pd_store_io_name(io, "keys", file, name, NULL);
	status = pd_store_io_write(io, name, filter, bytes, e);
	free(filter);
	return status;
}

/* A database that grows by ever larger keys, so that its pages are full. */
struct lmdb_out {
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	size_t waiting;
	struct pd_store_io *io;
	const char *name;
};

static int lmdb_commit(struct lmdb_out *w)
{
	int rc = mdb_txn_commit(w->txn);
	w->txn = NULL;
	w->waiting = 0;
	return rc;
}

static int lmdb_put(struct lmdb_out *w, struct pd_span key, struct pd_span id)
{
	MDB_val k = { key.n, (void *)(uintptr_t)key.p }, v = { id.n, (void *)(uintptr_t)id.p };
	int rc = w->txn ? 0 : mdb_txn_begin(w->env, NULL, 0, &w->txn);
	if (!rc)
		rc = mdb_put(w->txn, w->dbi, &k, &v, MDB_APPEND);
	if (!rc && ++w->waiting == AT_ONCE)
		rc = lmdb_commit(w);
	return rc;
}

static int order_of(struct pd_span a, MDB_val b)
{
	int c = memcmp(a.p, b.mv_data, a.n < b.mv_size ? a.n : b.mv_size);
	return c ? c : a.n < b.mv_size ? -1 : a.n > b.mv_size;
}

/* Two lists in the order of keys become one. */
static int lmdb_merge(struct lmdb_out *w, struct pd_store_keytable *old, const struct pd_store_new_key *keys, size_t n_keys,
		      uint64_t *n)
{
	MDB_cursor *c = NULL;
	MDB_val k = { 0 }, v = { 0 };
	size_t i = 0;
	int rc = old ? mdb_cursor_open(old->txn, old->dbi, &c) : 0,
	    more = rc || !old ? MDB_NOTFOUND : mdb_cursor_get(c, &k, &v, MDB_FIRST);
	while (!rc && (!more || i < n_keys)) {
		int order = more ? -1 : i == n_keys ? 1 : order_of(keys[i].key, k);
		if (order < 0) {
			rc = lmdb_put(w, keys[i].key, keys[i].id);
			i++;
			++*n;
			continue;
		}
		i += !order;
		rc = lmdb_put(w, pd_span(k.mv_data, k.mv_size), pd_span(v.mv_data, v.mv_size));
		more = mdb_cursor_get(c, &k, &v, MDB_NEXT);
	}
	if (c)
		mdb_cursor_close(c);
	return rc ? rc : more && more != MDB_NOTFOUND ? more : 0;
}

/* Sufficient space: pages half full, and one page for each item that does not fit with others. */
static size_t room_for(const struct pd_store_keytable *old, const struct pd_store_new_key *keys, size_t n_keys)
{
	size_t bytes = (old ? 2 * old->data.n : 0) + (1 << 20);
	for (size_t i = 0; i < n_keys; i++)
		bytes += 2 * (keys[i].key.n + 64) + (keys[i].id.n > 1024 ? 2 * (keys[i].id.n + 8192) : 2 * keys[i].id.n);
	return (bytes + 0xffff) & ~(size_t)0xffff;
}

static int write_lmdb(struct pd_store_io *io, uint64_t file, struct pd_store_keytable *old, const struct pd_store_new_key *keys,
		      size_t n_keys, uint64_t *n, struct pd_err *e)
{
	char name[PD_STORE_IO_NAME_MAX];
	struct pd_buf path = { 0 };
	pd_store_io_name(io, "keys", file, name, &path);
	struct lmdb_out w = { .io = io, .name = name };
	int rc = 0, status = pd_store_io_step(io, PD_STORE_IO_CREATE, name, "create", e);
	if (!status)
		rc = mdb_env_create(&w.env);
	if (!status && !rc)
		rc = mdb_env_set_mapsize(w.env, room_for(old, keys, n_keys));
	if (!status && !rc)
		rc = mdb_env_open(w.env, path.p, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0666);
	if (!status && !rc)
		rc = mdb_txn_begin(w.env, NULL, 0, &w.txn);
	if (!status && !rc)
		rc = mdb_dbi_open(w.txn, NULL, 0, &w.dbi);
	if (!status && !rc)
		rc = lmdb_merge(&w, old, keys, n_keys, n);
	if (!status && !rc)
		status = pd_store_io_step(io, PD_STORE_IO_WRITE, name, "write", e);
	if (!status && !rc && w.txn)
		rc = lmdb_commit(&w);
	if (w.txn)
		mdb_txn_abort(w.txn);
	if (!status && !rc)
		status = pd_store_io_step(io, PD_STORE_IO_SYNC, name, "sync", e);
	if (!status && !rc)
		rc = mdb_env_sync(w.env, 1);
	if (w.env)
		mdb_env_close(w.env);
	if (!status && rc)
		status = fail_lmdb(rc, "write", path.p, e);
	pd_buf_release(&path);
	return status;
}

int pd_store_keytable_write(struct pd_store_io *io, const struct pd_store_keytable_options *o, uint64_t file,
			    struct pd_store_keytable *old, const struct pd_store_new_key *keys, size_t n_keys, uint64_t *n,
			    struct pd_err *e)
{
	*n = 0;
	int status = o->kind == PD_STORE_KEYS_BLOOM ? write_bloom(io, o, file, old, keys, n_keys, n, e)
						    : write_lmdb(io, file, old, keys, n_keys, n, e);
	return status ? status : write_sums(io, file, e);
}
