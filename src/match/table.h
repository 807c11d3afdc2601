/* SPDX-License-Identifier: MIT
 *
 * Keys sorted by one block: a counting sort, so bucket v is the run start[v] .. start[v + 1] - 1 and costs no search.
 * Keys are copied into columns in sorted order; `index` leads back to them.  Memory is kept from build to build.
 */
#ifndef PD_MATCH_TABLE_H
#define PD_MATCH_TABLE_H

#include "match/join.h"
#include "match/scan.h"

struct pd_key_table {
	size_t n, n_values;
	struct pd_columns columns;
	uint32_t *index;		/* place -> key */
	uint32_t *start;		/* n_values + 1 */
	uint64_t *memory;
	size_t memory_cap, index_cap, start_cap;
};

/* Some of the keys: ids[0..n-1], or the first n of all when ids is NULL. */
struct pd_subset {
	const uint32_t *ids;
	size_t n;
};

/* n_bits 0: a single bucket, the keys in their order. */
void pd_table_build(struct pd_key_table *t, const struct pd_keys *keys, struct pd_subset subset, int first_bit, int n_bits);
void pd_table_release(struct pd_key_table *t);

static inline struct pd_key_run pd_table_bucket(const struct pd_key_table *t, size_t v)
{
	return (struct pd_key_run){ &t->columns, t->start[v], t->start[v + 1] };
}

/* The keys of a run of the table. */
static inline struct pd_subset pd_table_subset(const struct pd_key_table *t, struct pd_key_run run)
{
	return (struct pd_subset){ t->index + run.from, run.to - run.from };
}

#endif
