/* SPDX-License-Identifier: MIT
 *
 * Between near.c and near_sorted.c: one table of a segment, while questions are put to it.
 */
#ifndef PD_STORE_NEAR_PROBING_H
#define PD_STORE_NEAR_PROBING_H

#include "store/near.h"

enum { PD_NEAR_WINDOW = 32 };

struct pd_probing {
	struct pd_near *near;
	struct pd_segment *s;
	const struct pd_questions *q;
	struct pd_apply_rewrite cut;
	int radius[PD_STORE_TABLES_MAX];
	int table;
	uint64_t at;			/* of the table in the file */
	struct pd_table_layout l;
	const uint32_t *starts;
	struct pd_join_columns columns;
	/* of near.c: buckets that were asked for and not looked at yet */
	struct {
		uint32_t question, bucket;
		uint32_t from, to;
	} probe[PD_NEAR_WINDOW];
	int n;
	struct pd_err *e;
};

/* The keys of a bucket: *from .. *to - 1, with checksums that were looked at. */
int pd_probing_bucket(struct pd_probing *p, uint32_t bucket, uint32_t *from, uint32_t *to);
int pd_probing_check(struct pd_probing *p, uint32_t from, uint32_t to);
/* A key at `place` of the table is within k of a question: a hit, unless an earlier table found it. */
int pd_probing_hit(struct pd_probing *p, uint32_t question, uint32_t place, uint32_t distance);
uint32_t pd_probing_block(const struct pd_probing *p, size_t question);

/* All questions, bucket by bucket in the order of the table: for so many probes that most buckets are asked for. */
bool pd_probing_sorts(const struct pd_probing *p, size_t n_masks);
int pd_probing_sorted(struct pd_probing *p, const uint32_t *masks, size_t n_masks);

#endif
