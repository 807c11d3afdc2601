/* SPDX-License-Identifier: MIT
 *
 * What the log holds, in memory: pages that no segment has yet, in the order in which they were kept, with tables that
 * take one more page at any time.  Rows are numbered from 0.
 */
#ifndef PD_STORE_RECENT_H
#define PD_STORE_RECENT_H

#include "base/alloc.h"
#include "store/segment.h"

/* More pages than these, or a longer log, become a segment between two batches; and more than PD_STORE_RECENT_LEFT at the end of
 * a run.  What a killed run leaves, with its last batch, is read whenever the store is opened: in under 50 ms. */
#define PD_STORE_RECENT_MAX 16384
#define PD_STORE_RECENT_BYTES (16 << 20)
#define PD_STORE_RECENT_LEFT 4096

struct pd_store_recent_bucket {
	uint32_t n, cap;
	uint64_t *keys;		/* word by word, `cap` apart; in `arena`, as rows */
	uint32_t *rows;
};

struct pd_store_recent {
	int bits;
	size_t n, cap;
	uint64_t *numbers;		/* ascending */
	struct pd_store_page *pages;	/* their texts lie in `text` */
	struct pd_buf text;		/* the log as it was when it was opened, then what was added */
	size_t *text_at;
	struct pd_arena arena;
	struct pd_store_partition partition;
	struct pd_store_recent_bucket *buckets;	/* of all tables */
	uint32_t *head[PD_STORE_BY_COUNT], *next[PD_STORE_BY_COUNT];	/* row + 1; chains of equal hashes' highest bits */
	struct pd_store_recent_band {
		uint32_t band, row, next;	/* index + 1 */
	} *bands;			/* of pages with PD_STORE_HAS_BANDS, in the order of rows */
	size_t n_bands, cap_bands;
	struct {
		uint32_t first, last;	/* index + 1 of a chain */
	} *band_chains;			/* by band; NULL: there are none */
};

void pd_store_recent_init(struct pd_store_recent *r, int bits, int k);
void pd_store_recent_release(struct pd_store_recent *r);
/* Copies the text, unless it lies in `text` already. */
void pd_store_recent_add(struct pd_store_recent *r, uint64_t number, const struct pd_store_page *p);
/* The page with this number is removed: questions do not come across it any more.  It keeps its row. */
void pd_store_recent_drop(struct pd_store_recent *r, uint64_t number);
struct pd_store_page pd_store_recent_page(const struct pd_store_recent *r, uint32_t row);
/* The row with this number, or -1. */
int64_t pd_store_recent_row(const struct pd_store_recent *r, uint64_t number);
/* As pd_store_segment_find.  `mask`: the bits of the hash that count, at least the highest 32. */
void pd_store_recent_find(const struct pd_store_recent *r, enum pd_store_by by, uint64_t hash, uint64_t mask,
			  struct pd_store_rows_found *out);
/* The oldest first, up to out->most. */
void pd_store_recent_find_band(const struct pd_store_recent *r, uint32_t band, struct pd_store_rows_found *out);

#endif
