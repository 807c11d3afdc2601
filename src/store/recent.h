/* SPDX-License-Identifier: MIT
 *
 * What the log holds, in memory: pages that no segment has yet, in the order in which they were kept, with tables that
 * take one more page at any time.  Rows are numbered from 0.
 */
#ifndef PD_STORE_RECENT_H
#define PD_STORE_RECENT_H

#include "store/near.h"

#define PD_RECENT_MAX 131072	/* pages; then they become a segment */
#define PD_RECENT_LEFT 4096	/* pages that a run may leave in the log: opening reads them */

struct pd_recent_bucket {
	uint32_t n, cap;
	uint64_t *keys;		/* word by word, `cap` apart */
	uint32_t *rows;
};

struct pd_recent {
	int bits;
	size_t n, n_gone, cap, text_cap;
	uint64_t *numbers;		/* ascending */
	struct pd_store_page *pages;	/* their texts lie in `text` */
	bool *gone;
	struct pd_buf text;
	size_t *text_at;
	struct pd_cut cut;
	struct pd_recent_bucket *buckets;	/* of all tables */
	uint32_t *head[PD_BY_COUNT], *next[PD_BY_COUNT];	/* row + 1; chains of equal hashes' low bits */
};

void pd_recent_init(struct pd_recent *r, int bits, int k);
void pd_recent_release(struct pd_recent *r);
/* Copies the text. */
void pd_recent_add(struct pd_recent *r, uint64_t number, const struct pd_store_page *p);
struct pd_store_page pd_recent_page(const struct pd_recent *r, uint32_t row);
/* The row with this number, or -1. */
int64_t pd_recent_row(const struct pd_recent *r, uint64_t number);
/* As pd_near_segment, pd_segment_find; rows that are gone are found too. */
void pd_near_recent(struct pd_near *near, const struct pd_recent *r, const struct pd_questions *q);
/* `mask`: the bits of the hash that count, at least the highest 32. */
void pd_recent_find(const struct pd_recent *r, enum pd_store_by by, uint64_t hash, uint64_t mask, struct pd_rows_found *out);

#endif
