/* SPDX-License-Identifier: MIT
 *
 * The tables of a batch (patent CN101645082, module 500): the fingerprints and sketches of the new pages, arranged once by what a near one
 * must share with them, in a file that goes to all tasks and is mapped there.  docs/format-tables.md has it byte by byte.
 *
 * In: the batch, and the job's parameters; then stored rows, many at a time.  Out: for each the fingerprints of the batch that it may be
 * a near-duplicate of, as far as fingerprints and sketches tell: all that `match` would find, and some that it would not, which
 * the reduce task leaves out.  What a task has of its own are those rows, some megabytes; the file's pages are shared by all tasks of a node.
 *
 * Tables of fingerprints: each has the keys by the first bits of a block, and is asked for all values within the block's radius (join/join.h);
 * the blocks are those that `match` would choose.  Tables of bands: the sketches by the first bits of each band (match/bands.h).  Rows are
 * brought into the order of their values, block by block and band by band, so that those of one value are compared together with what the table
 * has for it.
 */
#ifndef PD_ENGINE_BATCH_TABLES_H
#define PD_ENGINE_BATCH_TABLES_H

#include "base/sort.h"
#include "engine/lines.h"
#include "join/scan.h"
#include "join/table.h"

#define PD_BATCH_TABLES_MAGIC "\x89PDT\r\n\x1a\n"
#define PD_BATCH_TABLES_VERSION 1
#define PD_BATCH_TABLES_BLOCKS 32
#define PD_BATCH_TABLES_ROWS 65536	/* that are asked for together, at most */

enum pd_batch_tables_section {
	PD_BATCH_KEYS,		/* u64: fingerprints that differ */
	PD_BATCH_FIRST,		/* u32 by key, and the end: its first entry; an entry is a row with a fingerprint */
	PD_BATCH_KEY_OF,	/* u32 by entry: its key */
	PD_BATCH_SKETCHED,	/* u8 by entry: 1 when it has a sketch */
	PD_BATCH_SKETCHES,	/* u64 by entry, zeroes where it has none */
	PD_BATCH_DIGESTS,	/* u64, two each, ascending: of rows with a text digest alone */
	PD_BATCH_IDS,		/* u64, ascending: hashes of the ids of all rows */
	PD_BATCH_PLACES,	/* u32 by id: its entry; after the last entry, its digest; or PD_BATCH_NOWHERE */
	PD_BATCH_STARTS,	/* u32 by block, by value, and the end: where the keys of the value begin */
	PD_BATCH_ORDERED,	/* u64 by block, by word: the keys in the order of their values, and PD_SCAN_PAD zeroes */
	PD_BATCH_NUMBERS,	/* u32 by block: the numbers of these keys */
	PD_BATCH_BAND_STARTS,	/* u32 by band, by value, and the end */
	PD_BATCH_BAND_ENTRIES,	/* u32 by band: entries that have a sketch, in the order of their values */
	PD_BATCH_SECTIONS
};

#define PD_BATCH_NOWHERE UINT32_MAX

struct pd_batch_tables_header {
	char magic[8];
	uint32_t version, header_bytes;
	uint64_t file_bytes;
	uint64_t batch;			/* checksum of the header of the key file */
	uint64_t keys, entries, sketched, digests, rows;
	uint32_t bits, k;
	uint32_t minima, minimum_bits, shingle, width;	/* of the sketches; of a band, in minima, 0: there are none */
	uint32_t n_blocks, band_bits;
	struct {
		uint32_t first_bit, n_bits, radius;
	} block[PD_BATCH_TABLES_BLOCKS];
	struct {
		uint64_t offset, length, checksum;
	} section[PD_BATCH_SECTIONS];
	uint64_t checksum;		/* of all before it */
};

/* Rows in the order of their values; of the batch what shares one. */
struct pd_batch_tables_meeting {
	struct pd_items order;
	struct pd_join_columns rows, others;
	uint32_t *row, *other;		/* their numbers */
	size_t n_others;
	struct pd_join_hits hits;
};

struct pd_batch_tables {
	struct pd_batch_tables_header h;
	const char *map;
	size_t map_bytes;
	const uint64_t *keys, *sketches, *digests, *ids, *ordered;
	const uint32_t *first, *key_of, *places, *starts, *numbers, *band_starts, *band_entries;
	const uint8_t *sketched;
	/* while rows are asked for */
	const struct pd_engine_params *p;
	struct pd_sketch_options sketch;
	int least;			/* minima that must agree */
	const struct pd_join_scan *scan;
	struct pd_join_masks masks[PD_BATCH_TABLES_BLOCKS];
	uint64_t *fingerprints, *row_sketches;	/* of the rows that were added; a sketch where row_sketched says it */
	uint8_t *row_sketched;
	size_t n_rows;
	struct pd_batch_tables_meeting meeting;
};

/* The file, appended to `out`; `digest`: pd_keyfile_digest of the batch. */
int pd_batch_tables_make(const struct pd_rows *batch, uint64_t digest, const struct pd_engine_params *p, struct pd_buf *out, struct pd_err *e);
/* Bytes in memory, which stay the caller's.  PD_ERR_INPUT: damaged, and where, or newer. */
int pd_batch_tables_check(struct pd_batch_tables *t, struct pd_span bytes, const char *name, struct pd_err *e);
/* Maps the file.  PD_ERR_PARAMS: it was made of another batch than `digest`'s, or for another job. */
int pd_batch_tables_open(struct pd_batch_tables *t, const char *path, uint64_t digest, const struct pd_engine_params *p, struct pd_err *e);
/* One more row with a fingerprint; t->n_rows is its number, which is below PD_BATCH_TABLES_ROWS. */
void pd_batch_tables_add(struct pd_batch_tables *t, const struct pd_engine_row *row);
/* Is told each key that a row is near, once, in no order that means anything; a status other than 0 ends the asking. */
struct pd_batch_tables_asker {
	int (*found)(void *ctx, size_t row, const uint64_t *key);
	void *ctx;
};
/* For all rows that were added; none are left. */
int pd_batch_tables_ask(struct pd_batch_tables *t, const struct pd_batch_tables_asker *asker);
/* Of a row without a fingerprint: has the batch its text? */
bool pd_batch_tables_has_text(const struct pd_batch_tables *t, const uint64_t digest[2]);
/* Where the batch has a page of this id, it is asked for in place of the stored one, which is the same: 1, and the row's key, digest and
 * sketch are those of the batch; 0: it has none; -1: it has, and nothing to ask for. */
int pd_batch_tables_take(struct pd_batch_tables *t, struct pd_engine_row *row);
void pd_batch_tables_close(struct pd_batch_tables *t);

#endif
