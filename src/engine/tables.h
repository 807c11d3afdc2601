/* SPDX-License-Identifier: MIT
 *
 * Where rows meet: the tables of a job, and the bucket of a row in each.  Two rows that may be a pair share a bucket of one table
 * at least; a pair counts in the first of them alone.
 *
 *	e	equal fingerprints			(k = 0)
 *	d	equal texts, of rows without a fingerprint
 *	h0 ...	fingerprints that share c of m blocks	(m - c >= k: two keys within k differ in at most k blocks)
 *	b0 ...	sketches that share a band
 *
 * With c = 1 and k = 3 the tables h are the four of patent CN101645082 (module 400).  More blocks (G. S. Manku et al., WWW 2007)
 * make smaller buckets and more tables; c is the least, up to 3, at which a bucket of evenly spread fingerprints has no more than
 * PD_ENGINE_BUCKET rows.
 */
#ifndef PD_ENGINE_TABLES_H
#define PD_ENGINE_TABLES_H

#include "engine/lines.h"

#define PD_ENGINE_BUCKET (1 << 20)
#define PD_ENGINE_SHARED_MAX 4

struct pd_engine_combination {
	uint8_t block[PD_ENGINE_SHARED_MAX];
};

struct pd_engine_tables {
	const struct pd_engine_params *p;
	int blocks, shared;		/* m, c */
	struct pd_engine_combination *h;	/* which blocks of each table, ascending */
	size_t n_h, cap_h;
	int n_bands;
};

void pd_engine_tables_init(struct pd_engine_tables *t, const struct pd_engine_params *p);
void pd_engine_tables_release(struct pd_engine_tables *t);

/* A table by what a bucket's name begins with. */
struct pd_engine_table {
	char kind;			/* e, d, h, b */
	int number;
};

/* Appends lines: the name of the row's bucket in a table, a tab, `value`, and a newline. */
void pd_engine_tables_add_equal(const struct pd_engine_row *row, struct pd_span value, struct pd_buf *out);
void pd_engine_tables_add_near(const struct pd_engine_tables *t, const struct pd_engine_row *row, struct pd_span value, struct pd_buf *out);
/* False: no name of a bucket of these tables. */
bool pd_engine_tables_parse(const struct pd_engine_tables *t, struct pd_span bucket, struct pd_engine_table *out);
/* Do two fingerprints within k meet in table h `number` first? */
bool pd_engine_tables_first(const struct pd_engine_tables *t, int number, const uint64_t *a, const uint64_t *b);

#endif
