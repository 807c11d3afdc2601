/* SPDX-License-Identifier: MIT
 *
 * M28: what is known of pages or pairs, to hold results against (docs/eval.md).  Two forms, told apart by their columns:
 *
 *	pages	url or id, content, and perhaps level: pages of the same content are near-duplicates, unless one of them
 *		was edited beyond the level that counts: then the pair is grey, neither right nor wrong
 *	labels	id_a and id_b, or url_a and url_b, and label; perhaps weight (how many pairs it stands for) and distance
 *		(pairs of one distance were sampled together)
 *
 * Columns are found by name; any other can be grouped by.
 */
#ifndef PD_GROUP_TRUTH_H
#define PD_GROUP_TRUTH_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"

enum { PD_TRUTH_BY = 8, PD_TRUTH_LEVELS = 100 };
enum pd_truth_kind { PD_PAIR_FALSE, PD_PAIR_TRUE, PD_PAIR_GREY, PD_PAIR_UNKNOWN };

struct pd_truth_options {
	const char *by[PD_TRUTH_BY];	/* columns to group by */
	int n_by;
	int true_level;			/* the highest level that still is a near-duplicate; 2 in docs/eval.md */
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

struct pd_label {
	uint32_t a, b;			/* pages, a the smaller place */
	enum pd_truth_kind kind;
	double weight;
	uint32_t stratum;
	uint32_t by[PD_TRUTH_BY];
};

struct pd_truth {
	const struct pd_truth_options *o;
	bool labels, by_id;		/* which form; whether pages are known by id or by URL */
	struct pd_names pages;		/* their ids or URLs, escaped as they stand */
	uint32_t *place;		/* of a page in bytewise order: a pair is counted with its first page */
	struct pd_names values[PD_TRUTH_BY];
	/* pages */
	struct pd_names contents, templates;
	uint32_t *content, *template;	/* by page; template: PD_NO_NAME where there is no such column */
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
/* The label of a pair, or NULL. */
const struct pd_label *pd_truth_label(const struct pd_truth *t, uint32_t a, uint32_t b);
enum pd_truth_kind pd_truth_kind_of(const struct pd_truth *t, uint32_t a, uint32_t b);

#endif
