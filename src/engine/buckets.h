/* SPDX-License-Identifier: MIT
 *
 * Lines of a reduce task, whole buckets one after the other -> pairs.  Many small buckets of one table are matched together, as
 * `match` matches files of rows (match/match.h), and what two buckets have in common is no pair of this table.  So rows lie on disk, and
 * a bucket that is larger than the memory that the task may use is joined stretch by stretch, as a file of rows would be.
 *
 * Lines that come out begin with what they are:
 *
 *	p	a pair: a row of pairs
 *	s	two pages that look alike and are no pair, as one of them has it: its id, how alike, the other's id, a line of suspects
 *	r	a row that stands for those that are the same
 *	n	a name and a number, which the next step adds up
 *	c	a band, and a row whose bucket there is full
 *
 * Where one page may stand for others it is not known yet, when pairs are found, whether fingerprints are dense in all rows.  Then a letter
 * more says where a pair or a suspect comes from: h, tables of fingerprints; k, bands, within k; b, other of bands.
 */
#ifndef PD_ENGINE_BUCKETS_H
#define PD_ENGINE_BUCKETS_H

#include "base/map.h"
#include "engine/tables.h"

struct pd_engine_buckets {
	const struct pd_engine *task;
	const struct pd_engine_params *p;
	const struct pd_engine_tables *tables;
	bool leaders;			/* write the rows that stand for others */
	struct pd_engine_table table;	/* of the rows that wait; its kind may be one of these, for all tables: */
#define PD_ENGINE_AGAINST 'a'		/* stored rows against new ones */
#define PD_ENGINE_INSIDE 'i'		/* all rows with each other */
#define PD_ENGINE_FULL 'c'		/* all rows of full buckets, which are known */
#define PD_ENGINE_DENSE 'l'		/* all rows that stand for others */
	const char *batch;		/* the key file of the new ones, in place of rows that wait; or NULL */
	void (*on_pair)(void *ctx, const struct pd_rows *rows, const struct pd_match_pair *pair);	/* NULL: pairs are written */
	void *ctx;
	FILE *waiting, *against;	/* rows; those that are stored, or NULL */
	uint64_t n_waiting;
	struct pd_map waits;		/* dense: hash of an id -> its row's place in `full`, from 1 */
	uint64_t *full;		/* dense: a bit for each band */
	size_t cap_full;
	struct pd_buf out;
	/* while pairs are formatted */
	const struct pd_rows *rows;
	uint8_t *follows;		/* by row: another one stands for it */
	uint64_t pairs;
	struct pd_err err;
};

/* A row of a bucket of `table`; the bucket is new, or that of the row before. */
int pd_engine_buckets_add(struct pd_engine_buckets *b, struct pd_engine_table table, bool is_new, struct pd_span row, struct pd_err *e);
/* With PD_ENGINE_AGAINST: a stored row, a new one. */
int pd_engine_buckets_add_stored(struct pd_engine_buckets *b, struct pd_span row, struct pd_err *e);
int pd_engine_buckets_add_new(struct pd_engine_buckets *b, struct pd_span row, struct pd_err *e);
/* With PD_ENGINE_FULL: a row, as often as it is in a full bucket. */
int pd_engine_buckets_add_full(struct pd_engine_buckets *b, int band, struct pd_span row, struct pd_err *e);
/* What a line counts for in the end: 'p', 's', or 0, nothing. */
char pd_engine_counts_as(const struct pd_engine_params *p, struct pd_span tag);
/* The pairs of those that wait. */
int pd_engine_buckets_end(struct pd_engine_buckets *b, struct pd_err *e);
void pd_engine_buckets_release(struct pd_engine_buckets *b);

#endif
