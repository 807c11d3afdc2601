/* SPDX-License-Identifier: MIT
 *
 * The tables of a job, and the bucket of a row in each.  Two rows that may be a pair share a bucket of at least one
 * table; a pair counts only in the first of them.
 *
 *	e	equal fingerprints			(k = 0)
 *	d	equal texts, of rows without a fingerprint
 *	h0 ...	fingerprints that share c of m blocks	(m - c >= k: two keys within k differ in at most k blocks)
 *	b	sketches that share a band
 *
 * With c = 1 and k = 3 the tables h are the four of patent CN101645082 (module 400).  More blocks (G. S. Manku et al.,
 * WWW 2007) give smaller buckets and more tables.  c is the least value, up to 3, for which a bucket of uniformly
 * distributed fingerprints has at most PD_ENGINE_BUCKET of them.  With c = 0 there is one bucket, of all fingerprints.
 *
 * Lines have the key of a partition, which contains many buckets: NAME.NUMBER; for bands bNUMBER, which contains the buckets of all
 * bands whose values begin with these bits.  So most rows are sent to few partitions, however many bands there are.
 *
 * If the parameters split a bucket, its rows are divided into g parts by a hash of their fingerprints.  Parts i and
 * j, i <= j, are compared in the bucket NAME+i-j/g, which finds pairs with one row of each part.  So a row is sent to
 * g keys, of g (g + 1) / 2 keys for as many tasks.
 */
#ifndef PD_ENGINE_TABLES_H
#define PD_ENGINE_TABLES_H

#include "tools/engine/lines.h"

#define PD_ENGINE_BUCKET (1 << 23)
#define PD_ENGINE_SHARED_MAX 4

struct pd_engine_combination {
	uint8_t block[PD_ENGINE_SHARED_MAX];
};

struct pd_engine_tables {
	const struct pd_engine_params *p;
	int blocks, shared;		 /* m, c */
	uint64_t partitions[2];		 /* of e and d; of each table h */
	struct pd_engine_combination *h; /* the blocks of each table, ascending */
	size_t n_h, cap_h;
	int n_bands, part_bits; /* part_bits: first bits of a value that give its partition */
};

/* `p` must remain valid until the release.  There are as many tables `h` as ways to choose c of m blocks: 1 with c = 0;
 * 4 with m = 4, c = 1; 10 with 5 and 2. */
void pd_engine_tables_init(struct pd_engine_tables *t, const struct pd_engine_params *p);
void pd_engine_tables_release(struct pd_engine_tables *t);

/* A table, from the start of a bucket's name. */
struct pd_engine_table {
	char kind; /* e, d, h, b */
	int number;
	int parts, i, j; /* parts 0: the bucket is not split */
};

/* Return the name of a row's bucket in a table h; the row has a fingerprint.  Return false if there are no more tables. */
bool pd_engine_tables_bucket(const struct pd_engine_tables *t, const struct pd_row *row, size_t number, struct pd_buf *out);
/* Set `key` to the partition of a row's signature: its fingerprint, or its text digest.  Return false if it has none. */
bool pd_engine_tables_equal(const struct pd_engine_tables *t, const struct pd_row *row, struct pd_buf *key);
/* Return a number that fingerprints in one bucket of a table h share. */
uint64_t pd_engine_tables_block(const struct pd_engine_tables *t, const uint64_t *fingerprint, int table);
/* Call `send` with each key to which a row is sent: partitions of tables h or their parts, and partitions of bands. */
typedef int pd_engine_tables_send(void *ctx, char kind, struct pd_span key, struct pd_err *e);
int pd_engine_tables_near(const struct pd_engine_tables *t, const struct pd_row *row, pd_engine_tables_send *send, void *ctx,
			  struct pd_err *e);
/* Parse the key of a line; it is an error if it is not one of these tables. */
int pd_engine_tables_take(const struct pd_engine_tables *t, const struct pd_engine_lines *in, struct pd_engine_table *out,
			  struct pd_err *e);
/* Return whether a pair of fingerprints counts in this bucket: in its parts, and, for tables of fingerprints, in the
 * first table that finds it. */
bool pd_engine_tables_own(const struct pd_engine_tables *t, const struct pd_engine_table *table, const uint64_t *a,
			  const uint64_t *b);

#endif
