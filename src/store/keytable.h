/* SPDX-License-Identifier: MIT
 *
 * Seen keys without their pages: a store that was made with --keys has them in place of segments.  A table is a file
 * keys-N that is written once, from an older table and the keys of the log, and then only read.  It is a database of
 * LMDB, which returns the id of the first page that had a key, or a Bloom filter, which returns whether a key was
 * seen and is sometimes wrong. The file sums-N has a checksum of each block of 16 KiB, which is compared before an
 * answer: for a filter only the blocks that are read, for a database all blocks when it is opened, since LMDB reads
 * it without our control.
 *
 * sums-N is a container with two sections: the bytes of keys-N; the checksums of its blocks, as a container has them.
 *
 * A key is one byte, twice the index of its method among those of the store plus the number of the value's key,
 * followed by the key as in rows.
 */
#ifndef PD_STORE_KEYTABLE_H
#define PD_STORE_KEYTABLE_H

#include "store/io.h"

enum pd_store_keys { PD_STORE_KEYS_NONE, PD_STORE_KEYS_LMDB, PD_STORE_KEYS_BLOOM };
extern const char *const pd_store_keys_names[]; /* "-", …; NULL at the end */

enum { PD_STORE_KEY_MAX = 500 }; /* bytes of one */

struct pd_store_keytable_options {
	enum pd_store_keys kind;
	uint64_t bits; /* of a filter */
	int hashes;
};

struct pd_store_keytable;

/* PD_ERR_NOT_FOUND: it is not there; PD_ERR_FORMAT: damaged, with file and offset. */
int pd_store_keytable_open(struct pd_store_keytable **out, const struct pd_store_io *io, const struct pd_store_keytable_options *o,
			   uint64_t file, struct pd_err *e);
void pd_store_keytable_close(struct pd_store_keytable *t);
/* Return 1 if it was seen, with *id of the first page that had it (empty for a filter), valid until the next call; 0
 * if not; negative on error. */
int pd_store_keytable_find(struct pd_store_keytable *t, struct pd_span key, struct pd_span *id, struct pd_err *e);
/* Looks at all of it: the first damage. */
int pd_store_keytable_verify(struct pd_store_keytable *t, struct pd_err *e);

struct pd_store_keytable_size {
	uint64_t bytes;			       /* of its files */
	double false_computed, false_measured; /* the share of unseen keys that a filter calls seen */
};

/* With this number of keys. */
int pd_store_keytable_measure(struct pd_store_keytable *t, uint64_t n_keys, struct pd_store_keytable_size *out, struct pd_err *e);

struct pd_store_new_key {
	struct pd_span key, id;
};

/* Write keys-FILE and sums-FILE, durable except for their names in the folder: all of `old` (NULL: nothing) and
 * these keys, sorted, each once; a key in both keeps the old id.  *n: keys that were not in `old`. */
int pd_store_keytable_write(struct pd_store_io *io, const struct pd_store_keytable_options *o, uint64_t file,
			    struct pd_store_keytable *old, const struct pd_store_new_key *keys, size_t n_keys, uint64_t *n,
			    struct pd_err *e);

#endif
