/* SPDX-License-Identifier: MIT
 *
 * A segment: pages in the order in which they were kept, immutable, mapped.  docs/format-store.md draws it; in short,
 * all columns indexed by row:
 *
 *	numbers		uint32_t: number of the page - first
 *	has		uint8_t: enum pd_store_has
 *	keys		bits/64 words, spread; 0 without a fingerprint
 *	sketches	words; 0 without
 *	lists		by id, by URL, by digest: hashes ascending, their rows beside them, and where each value of the
 *			highest bits begins
 *	tables		one for each block of the partition: bucket starts, keys in columns word by word, rows
 *	row blocks	text of the rows, some at a time, a zstd frame each
 *
 * Every 16 KiB have a checksum, which is held against them when they are first looked at: nothing is answered from a
 * damaged block.  Whoever reads a place asks pd_store_segment_at for it; PD_ERR_FORMAT then names file and offset.
 */
#ifndef PD_STORE_SEGMENT_H
#define PD_STORE_SEGMENT_H

#include "base/codec.h"
#include "join/bits.h"
#include "join/scan.h"
#include "store/io.h"
#include "store/page.h"

#define PD_STORE_SEGMENT_MAGIC "\x89PDSEG\r\n"
#define PD_STORE_BLOCK_BITS_MAX 24	/* of a table's block */
#define PD_STORE_SEGMENT_ROWS (UINT32_MAX / 2)
#define PD_STORE_SEGMENT_PAD 16	/* keys of zeroes behind each column of a table: compared without a care for its end */

/* A spread key is partitioned into blocks of equal width from bit 0 on, the rest is left over; there is a table for each. */
struct pd_store_partition {
	int n_blocks, n_bits;		/* one block of 0 bits: brute force */
};

/* The partition in which a question of n_keys keys costs least. */
struct pd_store_partition pd_store_partition_choose(int bits, int k, uint64_t n_keys);

/* The value of a block of a key. */
static inline uint32_t pd_store_partition_block(struct pd_store_partition p, const uint64_t *key, int block)
{
	return p.n_bits ? (uint32_t)pd_bits_get(key, block * p.n_bits, p.n_bits) : 0;
}

_Static_assert(PD_STORE_SEGMENT_PAD >= PD_SCAN_PAD, "what scanning may read lies in the segment");

enum pd_store_segment_section {
	PD_STORE_SEG_NUMBERS,
	PD_STORE_SEG_HAS,
	PD_STORE_SEG_KEYS,
	PD_STORE_SEG_SKETCHES,
	PD_STORE_SEG_HASHES,					/* one for each list */
	PD_STORE_SEG_LIST_ROWS = PD_STORE_SEG_HASHES + PD_STORE_BY_COUNT,
	PD_STORE_SEG_STARTS = PD_STORE_SEG_LIST_ROWS + PD_STORE_BY_COUNT,
	PD_STORE_SEG_TABLES = PD_STORE_SEG_STARTS + PD_STORE_BY_COUNT,
	PD_STORE_SEG_ROWS,
	PD_STORE_SEG_ROW_BLOCKS,
	PD_STORE_SEG_SECTIONS
};

/* The end of the file; all of it under its last member. */
struct pd_store_segment_footer {
	char magic[8];
	uint32_t version, block;	/* PD_STORE_BLOCK */
	uint64_t file;			/* its number */
	uint64_t rows, prints;		/* pages; those whose keys are in the tables */
	uint64_t first;			/* number of the first page */
	uint32_t bits, sketch_words;
	uint32_t tables, table_bits;	/* the partition */
	uint32_t start_bits[PD_STORE_BY_COUNT], zero;
	uint64_t listed[PD_STORE_BY_COUNT];
	uint64_t row_blocks;
	struct {
		uint64_t at, n;
	} section[PD_STORE_SEG_SECTIONS];
	uint64_t content;		/* bytes before the checksums */
	uint64_t checks_check;
	uint64_t check;
};

_Static_assert(sizeof(struct pd_store_segment_footer) == 392, "as in docs/format-store.md");

struct pd_store_row_block {
	uint64_t at;			/* in the section of rows */
	uint32_t bytes;			/* compressed */
	uint32_t first;			/* row */
};

struct pd_store_segment {
	struct pd_store_io_map map;
	char *name;			/* for messages */
	struct pd_store_segment_footer f;
	const uint8_t *checks;
	uint8_t *seen;			/* by block of the file: its checksum was right */
	const uint8_t *section[PD_STORE_SEG_SECTIONS];
};

/* Takes over the map, and gives it back when it is no good.  `file` is its number, which is part of all checksums. */
int pd_store_segment_open(struct pd_store_segment *s, struct pd_store_io_map map, uint64_t file, const char *name,
			  struct pd_err *e);
void pd_store_segment_close(struct pd_store_segment *s);

/* Looks at the checksums of the blocks that hold n bytes from `at` on, the first time. */
int pd_store_segment_check(struct pd_store_segment *s, uint64_t at, uint64_t n, struct pd_err *e);
/* Items from .. to - 1, `size` bytes each, of a section; NULL when damaged. */
const void *pd_store_segment_at(struct pd_store_segment *s, int section, uint64_t from, uint64_t to, size_t size,
				struct pd_err *e);
/* The same for a part of a table: 0 starts, 1 keys of one word, 2 rows. */
enum pd_store_table_part { PD_STORE_TABLE_STARTS, PD_STORE_TABLE_KEYS, PD_STORE_TABLE_ROWS };
struct pd_store_table_layout {
	uint64_t part[3], bytes;	/* where each begins, from the table's beginning; all of it */
	uint64_t stride;		/* keys of a word, with those that only make scanning safe */
};
void pd_store_table_layout(const struct pd_store_segment_footer *f, struct pd_store_table_layout *l);

/* What was found to be wrong in the file as it stands: offset and PD_ERR_FORMAT. */
int pd_store_segment_damaged(const struct pd_store_segment *s, uint64_t at, const char *what, struct pd_err *e);

/* Rows whose hash is between low and high, both included, appended to out. */
struct pd_store_rows_found {
	uint32_t *v;
	size_t n, cap;
	size_t most;		/* no more than these are found; 0: all */
};
int pd_store_segment_find(struct pd_store_segment *s, enum pd_store_by by, uint64_t low, uint64_t high,
			  struct pd_store_rows_found *out, struct pd_err *e);

/* Asks for the memory that finding this hash will look at: the first step early, the second some questions before. */
void pd_store_segment_find_soon(const struct pd_store_segment *s, enum pd_store_by by, uint64_t hash, int step);

int pd_store_segment_number(struct pd_store_segment *s, uint32_t row, uint64_t *number, struct pd_err *e);
/* The row with this number: 1 found, 0 not, negative error. */
int pd_store_segment_row(struct pd_store_segment *s, uint64_t number, uint32_t *row, struct pd_err *e);
/* Everything of a page but its text and hashes. */
int pd_store_segment_page(struct pd_store_segment *s, uint32_t row, struct pd_store_page *p, struct pd_err *e);

/* Texts, block by block; a few unpacked blocks are kept. */
struct pd_store_text_cache;
struct pd_store_text_cache *pd_store_text_cache_new(void);
void pd_store_text_cache_free(struct pd_store_text_cache *c);
/* All of a block, a line a row; dies with the next call. */
int pd_store_segment_texts(struct pd_store_segment *s, size_t block, struct pd_store_text_cache *c, struct pd_span *out,
			   struct pd_err *e);
int pd_store_segment_text(struct pd_store_segment *s, uint32_t row, struct pd_store_text_cache *c, struct pd_span *out,
			  struct pd_err *e);

#endif
