/* SPDX-License-Identifier: MIT
 *
 * M28: found pairs against a truth -> precision, recall and F1, of all pairs and of groups, with intervals.
 *
 * A true pair that is found is a hit, one that is not is a miss; a false pair that is found counts against precision;
 * grey pairs count neither way.  A pair belongs to the group of that of its pages which comes first in bytewise order; by
 * the column `level` to the higher level of the two, and such groups have no precision, since a false pair has no level.
 * Intervals: the bootstrap (B. Efron, 1979), percentiles of resamples; what is resampled are contents with all their
 * pairs, since the pairs of one text depend on each other, or labels inside their stratum.
 */
#ifndef PD_GROUP_SCORE_H
#define PD_GROUP_SCORE_H

#include "group/truth.h"

/* Weighted numbers of pairs. */
struct pd_counts {
	double hits, wanted, wrong;
};

enum pd_measure { PD_PRECISION, PD_RECALL, PD_F1, PD_MEASURES };
extern const char *const pd_measure_names[PD_MEASURES];

/* What a group's counts come from. */
struct pd_score_event {
	uint32_t unit;
	struct pd_counts counts;
};

struct pd_score_group {
	const char *by;			/* "all", or a column */
	struct pd_span value;		/* "" of all */
	bool no_precision;
	struct pd_counts counts;
	double low[PD_MEASURES], high[PD_MEASURES];	/* 95 %; NaN without a bootstrap */
	/* its own */
	struct pd_score_event *events;
	size_t n, cap;
};

/* Of a cluster, known by number, as found. */
struct pd_score_member {
	uint32_t cluster;
	struct pd_span name;		/* of the page */
	/* its own */
	uint32_t page;
	bool known;
};

struct pd_score {
	const struct pd_truth *truth;
	uint64_t unknown;		/* pairs that name a page without truth, or have no label */
	uint64_t same_template;		/* false pairs whose pages share a template */
	struct pd_score_group *groups;	/* all; then by column, in the order of values */
	size_t n_groups;
	uint32_t first_of[PD_TRUTH_BY];	/* of a column's groups */
	uint64_t *pairs;		/* found, places of pages: a << 32 | b */
	size_t n_pairs, cap_pairs;
};

/* Counts what is wanted. */
void pd_score_init(struct pd_score *s, const struct pd_truth *t);
void pd_score_release(struct pd_score *s);
/* A pair that was found, by the names of its pages; more than once counts once. */
void pd_score_pair(struct pd_score *s, struct pd_span a, struct pd_span b);
/* All pairs of members of one cluster, each once whatever else its pages belong to.  `members` is sorted and filled.  Time
 * grows with the members (and the square of those of one cluster that an earlier cluster holds too), memory with the members. */
void pd_score_clusters(struct pd_score *s, struct pd_score_member *members, size_t n);
/* When all pairs are in. */
void pd_score_close(struct pd_score *s);
/* With so many resamples. */
void pd_score_bootstrap(struct pd_score *s, int resamples, uint64_t seed);
/* NaN: nothing to divide by; with nothing found precision and F1 are 0, as with nothing wanted recall is. */
double pd_measure(const struct pd_counts *c, enum pd_measure m);

#endif
