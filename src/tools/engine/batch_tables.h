/* SPDX-License-Identifier: MIT
 *
 * The tables of a batch (patent CN101645082, module 500): the fingerprints and sketches of the new pages, arranged by
 * the values that near pages share with them, in a file that is distributed to all tasks and mapped there. 
 * docs/format-tables.md specifies the bytes.
 *
 * The batch and the job's parameters -> the tables.  Blocks of stored rows -> for each row, the fingerprints of the
 * batch that are candidates by fingerprint and sketch.  They include all pairs that `match` would find; the reduce
 * task removes the others.  A task only allocates memory for these rows, some megabytes; the file's pages are shared
 * by all tasks of a node.
 *
 * Tables of fingerprints have the keys sorted by the first bits of a block, and are searched for all values within
 * the block's radius (index/near.h).  The partition into blocks is the one that `match` would choose.  Tables of
 * bands have the sketches sorted by the first bits of each band (match/bands.h).  Rows are sorted by their values,
 * for each band, so that rows of one value are compared together with the table's entries for it.
 */
#ifndef PD_ENGINE_BATCH_TABLES_H
#define PD_ENGINE_BATCH_TABLES_H

#include "base/container.h"
#include "base/sort.h"
#include "tools/engine/lines.h"
#include "index/bands.h"

#define PD_BATCH_TABLES_VERSION 2
#define PD_BATCH_TABLES_BLOCKS 32
#define PD_BATCH_TABLES_ROWS 65536 /* maximum number of rows that are searched together */

enum pd_batch_tables_section {
	PD_BATCH_KEYS,	       /* u64: distinct fingerprints */
	PD_BATCH_FIRST,	       /* u32 by key, and the end: its first entry; an entry is a row with a fingerprint */
	PD_BATCH_KEY_OF,       /* u32 by entry: its key */
	PD_BATCH_SKETCHED,     /* u8 by entry: 1 if it has a sketch */
	PD_BATCH_SKETCHES,     /* u64 by entry, zeroes if it has none */
	PD_BATCH_DIGESTS,      /* u64, two each, ascending: of rows with only a text digest */
	PD_BATCH_IDS,	       /* u64, ascending: hashes of the ids of all rows */
	PD_BATCH_PLACES,       /* u32 by id: its entry; after the last entry, its digest; or PD_BATCH_NOWHERE */
	PD_BATCH_STARTS,       /* u32 by block, by value, and the end: start of the keys with the value */
	PD_BATCH_ORDERED,      /* u64 by block, by word: the keys in the order of their values, and PD_SCAN_PAD zeroes */
	PD_BATCH_NUMBERS,      /* u32 by block: the numbers of these keys */
	PD_BATCH_BAND_STARTS,  /* u32 by band, by value, and the end */
	PD_BATCH_BAND_ENTRIES, /* u32 by band: entries with a sketch, in the order of their values */
	PD_BATCH_PARAMS,       /* struct pd_batch_tables_params */
	PD_BATCH_SECTIONS
};

#define PD_BATCH_NOWHERE UINT32_MAX

struct pd_batch_tables_params {
	uint64_t batch; /* the identity of the key file (pd_keyfile_digest) */
	uint64_t keys, entries, sketched, digests, rows;
	uint32_t bits, k;
	uint32_t minima, minimum_bits, shingle, width; /* of the sketches; width of a band in minima, 0: there are no
							 * bands */
	uint32_t n_blocks, band_bits;
	struct {
		uint32_t first_bit, n_bits, radius;
	} block[PD_BATCH_TABLES_BLOCKS];
};

struct pd_batch_tables {
	struct pd_container c;
	struct pd_batch_tables_params h;
	const uint64_t *keys, *sketches, *digests, *ids, *ordered;
	const uint32_t *first, *key_of, *places, *starts, *numbers, *band_starts, *band_entries;
	const uint8_t *sketched;
	/* used while searching */
	const struct pd_engine_params *p;
	struct pd_sketch_options sketch;
	int least; /* number of minima that must agree */
	struct pd_index_plan plan;
	struct pd_index_near near;
	struct pd_index_queries rows; /* the fingerprints of the added rows */
	uint64_t *row_sketches;	      /* their sketches; a sketch is valid if row_sketched is set */
	uint8_t *row_sketched;
};

/* Append the file to `out`; `digest`: pd_keyfile_digest of the batch. */
int pd_batch_tables_make(const struct pd_rows *batch, uint64_t digest, const struct pd_engine_params *p, struct pd_buf *out,
			 struct pd_err *e);
/* Map the file.  PD_ERR_PARAMS: it was made from a different batch than `digest`, or for another job. */
int pd_batch_tables_open(struct pd_batch_tables *t, const char *path, uint64_t digest, const struct pd_engine_params *p,
			 struct pd_err *e);
/* Add a row with a fingerprint; its number is t->rows.n, which must be below PD_BATCH_TABLES_ROWS. */
void pd_batch_tables_add(struct pd_batch_tables *t, const struct pd_row *row);
/* Receives each key within the distance of a row, once, in any order; a status other than 0 ends the search. */
struct pd_batch_tables_receiver {
	int (*found)(void *ctx, size_t row, const uint64_t *key);
	void *ctx;
};
/* Search for all rows that were added, and remove them. */
int pd_batch_tables_search(struct pd_batch_tables *t, const struct pd_batch_tables_receiver *receiver);
/* For a row without a fingerprint: return whether the batch has its text. */
bool pd_batch_tables_has_text(const struct pd_batch_tables *t, const uint64_t digest[2]);
/* If the batch has a page with this id, search for that page instead of the stored one, which is the same page.
 * Return 1: the row's key, digest and sketch are copied from the batch; 0: the batch does not have the row; -1: it
 * has the row, but no data to search for. */
int pd_batch_tables_take(struct pd_batch_tables *t, struct pd_row *row);
void pd_batch_tables_close(struct pd_batch_tables *t);

#endif
