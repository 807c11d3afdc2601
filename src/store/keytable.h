/* SPDX-License-Identifier: MIT
 *
 * The table of keys that were seen.  A store that was made with --keys has it in place of segments.  A table is a file
 * keys-N that is written once, from an older table and the keys of the log, and then only read.  It is either a
 * database of LMDB, which returns the id of the first page with a key, or a Bloom filter, which returns whether a key
 * was seen, with some false positives. The file sums-N has a checksum of each block of 16 KiB, which is verified
 * before an answer.  For a filter, only the blocks that are read are verified; for a database, all blocks when it is
 * opened, because LMDB maps the file itself.
 *
 * sums-N is a container with two sections: the bytes of keys-N; the checksums of its blocks, as a container has them.
 *
 * A key is one byte followed by the key as in rows.  The byte is 2 * i + j for key j of a value of method i of the store.
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

/* PD_ERR_NOT_FOUND: the file does not exist; PD_ERR_FORMAT: it is damaged, and the message has the offset. */
int pd_store_keytable_open(struct pd_store_keytable **out, const struct pd_store_io *io, const struct pd_store_keytable_options *o,
			   uint64_t file, struct pd_err *e);
void pd_store_keytable_close(struct pd_store_keytable *t);
/* Return 1 if it was seen, with *id of the first page that had it (empty for a filter), valid until the next call; 0
 * if not; negative on error. */
int pd_store_keytable_find(struct pd_store_keytable *t, struct pd_span key, struct pd_span *id, struct pd_err *e);
/* Verify the whole table; the first damage is reported. */
int pd_store_keytable_verify(struct pd_store_keytable *t, struct pd_err *e);

struct pd_store_keytable_size {
	uint64_t bytes;			       /* of its files */
	double false_computed, false_measured; /* the rate of false positives of a filter */
};

/* The same for a given number of keys. */
int pd_store_keytable_measure(struct pd_store_keytable *t, uint64_t n_keys, struct pd_store_keytable_size *out, struct pd_err *e);

struct pd_store_new_key {
	struct pd_span key, id;
};

/* Write keys-FILE and sums-FILE, durable except for their names in the folder.  They contain all keys of `old` (NULL:
 * none) and these keys, which are sorted and unique; a key in both keeps the old id. *n is the number of keys that
 * were not in `old`. */
int pd_store_keytable_write(struct pd_store_io *io, const struct pd_store_keytable_options *o, uint64_t file,
			    struct pd_store_keytable *old, const struct pd_store_new_key *keys, size_t n_keys, uint64_t *n,
			    struct pd_err *e);

#endif
