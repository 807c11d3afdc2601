/* SPDX-License-Identifier: MIT
 *
 * Keys that were seen, without their pages: what a store that was made with --keys has in place of segments.  A table is a file
 * keys-N that is written once, from an older table and the keys of the log, and then only read: a database of LMDB, which
 * gives the id of the first page that had a key, or a Bloom filter, which says whether a key was seen and sometimes says so
 * wrongly.  Beside it lies sums-N: a checksum of each 16 KiB of the other, which are held against it before anything is
 * answered: of a filter those that are asked for, of a database all of them when it is opened, since LMDB reads it
 * unasked.
 *
 *	sums-N	8 bytes magic, 4 version, 4 size of a block, 8 N, 8 bytes of keys-N; 8 for each block: XXH3 with the seed
 *		N << 32 ^ number of the block; 8 checksum of all before, seed N
 *
 * A key is the place of its method among those that the store keeps, twice, plus which of the value's keys it is, as a byte; then
 * the key as rows have it.
 */
#ifndef PD_STORE_KEYTABLE_H
#define PD_STORE_KEYTABLE_H

#include "store/io.h"

enum pd_store_keys { PD_STORE_KEYS_NONE, PD_STORE_KEYS_LMDB, PD_STORE_KEYS_BLOOM };
extern const char *const pd_store_keys_names[];		/* "-", …; NULL at the end */

enum { PD_STORE_KEY_MAX = 500 };	/* bytes of one */

struct pd_store_keytable_options {
	enum pd_store_keys kind;
	uint64_t bits;			/* of a filter */
	int hashes;
};

struct pd_store_keytable;

/* PD_ERR_NOT_FOUND: it is not there; PD_ERR_FORMAT: damaged, with file and offset. */
int pd_store_keytable_open(struct pd_store_keytable **out, const struct pd_store_io *io, const struct pd_store_keytable_options *o,
			   uint64_t file, struct pd_err *e);
void pd_store_keytable_close(struct pd_store_keytable *t);
/* 1: it was seen, *id is of the first page that had it (nothing: a filter), until the next call; 0: it was not; negative. */
int pd_store_keytable_find(struct pd_store_keytable *t, struct pd_span key, struct pd_span *id, struct pd_err *e);
/* Looks at all of it: the first damage. */
int pd_store_keytable_verify(struct pd_store_keytable *t, struct pd_err *e);

struct pd_store_keytable_size {
	uint64_t bytes;			/* of its files */
	double false_computed, false_measured;	/* the share of keys that a filter takes for seen though nobody ever had them */
};

/* With so many keys in it. */
int pd_store_keytable_measure(struct pd_store_keytable *t, uint64_t n_keys, struct pd_store_keytable_size *out, struct pd_err *e);

struct pd_store_new_key {
	struct pd_span key, id;
};

/* keys-FILE and sums-FILE, durable but for their names in the folder: all of `old` (NULL: nothing) and these, sorted by key, each once;
 * of a key that is in both the old id stays.  *n: keys that were not in `old`. */
int pd_store_keytable_write(struct pd_store_io *io, const struct pd_store_keytable_options *o, uint64_t file,
			    struct pd_store_keytable *old, const struct pd_store_new_key *keys, size_t n_keys, uint64_t *n,
			    struct pd_err *e);

#endif
