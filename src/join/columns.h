/* SPDX-License-Identifier: MIT
 *
 * Columns of values -> pairs of rows: exactly those that the rule asks for, each once.  It knows nothing of pages.  In: for each
 * row a key, a set of items, or a vector.  Out: pairs, the smaller row in the high half of the key, in order; the same for any
 * number of threads.  What does not fit the budget lies on disk (base/sort.h, base/memory.h).
 *
 * Sets are joined by prefix filtering (S. Chaudhuri, V. Ganti, R. Kaushik, ICDE 2006; R. Bayardo, Y. Ma, R. Srikant, "Scaling Up All
 * Pairs Similarity Search", WWW 2007; C. Xiao et al., WWW 2008).  Items are numbered by how many rows have them, the rarest
 * first.  Of two sets that share at least t items the smaller, of n, shares one of its n - t + 1 rarest; so only those are
 * indexed, every set asks with all its items for smaller ones, and what is found is counted in full:
 *
 *	set of 5, t = 3    rare [7 19 204] 5127 9003 frequent        indexed: 7, 19 and 204
 *
 * What very many rows have is frequent, comes last, and is indexed for the few rows alone that have nothing rarer.
 *
 * Vectors are joined alike: each of two whose cosine is at least t has a dimension of the other among its rarest, those without
 * which its length falls below t (R. Bayardo et al.; D. Anastasiu, G. Karypis, "L2AP", ICDE 2014).  A product is then added up
 * from the frequent end, and given up when what is left of both vectors cannot make up for what is missing.
 */
#ifndef PD_JOIN_COLUMNS_H
#define PD_JOIN_COLUMNS_H

#include "base/err.h"
#include "base/sort.h"
#include "base/memory.h"

/* Rows 0 ... n - 1; row i has item[start[i]] ... item[start[i + 1] - 1], each once, in any order. */
struct pd_join_column {
	size_t n;
	uint64_t *start, *item;
	float *weight;			/* of each item, positive; NULL: a set */
	/* its own */
	struct pd_array memory[3];
	struct pd_budget *budget;
};

/* Begins the next row; items are then its own. */
void pd_join_column_row(struct pd_join_column *c);
/* weight: 0 in sets. */
void pd_join_column_item(struct pd_join_column *c, uint64_t item, float weight);
void pd_join_column_release(struct pd_join_column *c);

struct pd_join_columns_stats {
	uint64_t shared;	/* items that several rows have */
	uint64_t longest;	/* rows that have the most frequent of them */
	uint64_t candidates;	/* pairs that were examined in full */
};

/* How many items of two sets, of which the smaller has n, must be shared; 0: it matches nothing. */
typedef size_t pd_join_needed(const void *ctx, size_t n);

/* A pair's value: items shared. */
int pd_join_sets(const struct pd_join_column *c, pd_join_needed *needed, const void *ctx, int threads, struct pd_items *out,
		 struct pd_join_columns_stats *stats, struct pd_err *e);
/* Pairs whose cosine is over `least`, with perhaps some that are below it by rounding (1e-5). */
int pd_join_vectors(const struct pd_join_column *c, double least, int threads, struct pd_items *out,
		    struct pd_join_columns_stats *stats, struct pd_err *e);
/* All pairs of rows with the same two words; row[i] of key i. */
int pd_join_equal(const uint64_t *keys, const uint32_t *row, size_t n, int threads, struct pd_budget *budget, struct pd_items *out,
		  struct pd_err *e);

#endif
