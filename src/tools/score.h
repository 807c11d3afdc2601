/* SPDX-License-Identifier: MIT
 *
 * Found pairs and a truth -> precision, recall and F1, for all pairs and for groups, with intervals.
 *
 * A true pair that is found is a hit, otherwise a miss; a false pair that is found lowers precision; uncertain pairs
 * are not counted.  A pair belongs to the group of the one of its pages that is first in bytewise order; for the
 * column `level` to the higher level, and such groups have no precision, since a false pair has no level.
 *
 * Intervals: the bootstrap (B. Efron, 1979), percentiles of resamples.  Contents are resampled with all their pairs,
 * since the pairs of one text depend on each other, or labels inside their stratum.
 */
#ifndef PD_GROUP_SCORE_H
#define PD_GROUP_SCORE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"

/* ==== the truth ====
 *
 * Known facts about pages or pairs, for comparison with results (docs/eval.md).  There are two forms, with different
 * columns:
 *
 *	pages   url or id, content, and optionally level: pages of the same content are near-duplicates, unless one of
 *	them was edited
 *		beyond the level that counts: then the pair is uncertain
 *	labels  id_a and id_b, or url_a and url_b, and label; optionally weight (the number of pairs that it represents)
 *	and
 *		distance (pairs of one distance were sampled together)
 *
 * Columns are found by name; other columns can be used for groups. */

enum { PD_TRUTH_BY = 8, PD_TRUTH_LEVELS = 100 };
enum pd_truth_kind { PD_PAIR_FALSE, PD_PAIR_TRUE, PD_PAIR_GREY, PD_PAIR_UNKNOWN };

struct pd_truth_options {
	const char *by[PD_TRUTH_BY]; /* columns to group by */
	int n_by;
	int true_level; /* the highest level that still is a near-duplicate; 2 in docs/eval.md */
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

struct pd_label {
	uint32_t a, b; /* pages, a the smaller place */
	enum pd_truth_kind kind;
	double weight;
	uint32_t stratum;
	uint32_t by[PD_TRUTH_BY];
};

struct pd_truth {
	const struct pd_truth_options *o;
	bool labels, by_id;    /* which form; whether pages are known by id or by URL */
	struct pd_names pages; /* their ids or URLs, escaped as in the file */
	uint32_t *place;       /* of a page in bytewise order: a pair is counted with its first page */
	struct pd_names values[PD_TRUTH_BY];
	/* pages */
	struct pd_names contents, templates;
	uint32_t *content, *template; /* by page; template: PD_NO_NAME if there is no such column */
	uint32_t *by[PD_TRUTH_BY];
	int *level;
	size_t cap_content, cap_template, cap_level, cap_by[PD_TRUTH_BY];
	/* labels, by a and b */
	struct pd_label *label;
	size_t n_labels, cap_label;
	uint32_t n_strata;
	uint64_t bad;
};

int pd_truth_read(struct pd_truth *t, const char *path, const struct pd_truth_options *o, struct pd_err *e);
void pd_truth_release(struct pd_truth *t);
/* The label of a pair, and the number of pairs that it represents. */
enum pd_truth_kind pd_truth_of_pair(const struct pd_truth *t, uint32_t a, uint32_t b, double *weight);
/* True pairs in all. */
double pd_truth_wanted(const struct pd_truth *t);

/* ==== the score ==== */

/* Weighted numbers of pairs. */
struct pd_counts {
	double hits, wanted, wrong;
};

enum pd_measure { PD_PRECISION, PD_RECALL, PD_F1, PD_MEASURES };

/* The counts of a group. */
struct pd_score_event {
	uint32_t unit;
	struct pd_counts counts;
};

struct pd_score_group {
	const char *by;	      /* "all", or a column */
	struct pd_span value; /* "" of all */
	bool no_precision;
	struct pd_counts counts;
	double low[PD_MEASURES], high[PD_MEASURES]; /* 95 %; NaN without a bootstrap */
	/* its own */
	struct pd_score_event *events;
	size_t n, cap;
};

/* A cluster, identified by number, as found. */
struct pd_score_member {
	uint32_t cluster;
	struct pd_span name; /* of the page */
	/* its own */
	uint32_t page;
	bool known;
};

struct pd_score {
	const struct pd_truth *truth;
	uint64_t unknown;	       /* pairs that name a page without truth, or have no label */
	uint64_t same_template;	       /* false pairs of pages that share a template */
	struct pd_score_group *groups; /* all; then by column, in the order of values */
	size_t n_groups;
	uint32_t first_of[PD_TRUTH_BY]; /* of a column's groups */
	uint64_t *pairs;		/* found, places of pages: a << 32 | b */
	size_t n_pairs, cap_pairs;
	uint64_t bad; /* unreadable rows: reported like rows of the truth, and skipped */
};

struct pd_score_options {
	const char *pairs, *clusters; /* rows of `match`, or of `cluster`: one of the two */
	bool suspects;		      /* pairs that are marked as suspected count, too */
	int resamples;		      /* for the intervals */
	uint64_t seed;
};

/* Compare a file with the truth: everything below except the release. */
int pd_score_files(struct pd_score *s, const struct pd_truth *t, const struct pd_score_options *o, struct pd_err *e);

void pd_score_release(struct pd_score *s);
/* NaN: undefined; without found pairs precision and F1 are 0, and without true pairs recall is 0. */
double pd_measure(const struct pd_counts *c, enum pd_measure m);

#endif
