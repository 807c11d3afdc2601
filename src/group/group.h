/* SPDX-License-Identifier: MIT
 *
 * M26 as a whole: pairs rows in, members of clusters out, one after the other in the order of the verdicts file: by
 * cluster, clusters in the order of their page kept, and inside by id.
 *
 *	struct pd_group g;
 *	status = pd_group_open(&g, &options, &e);
 *	while (!status && pd_group_next(&g, &m))
 *		pd_write_verdict_row(&g, &m, &line);		(write/verdict_row.h)
 *	pd_group_release(&g);
 */
#ifndef PD_GROUP_GROUP_H
#define PD_GROUP_GROUP_H

#include "group/keep.h"

/* remove: duplicates go, their weight is 0.  demote: nothing is removed, duplicates get a lower weight. */
enum pd_action { PD_ACTION_REMOVE, PD_ACTION_DEMOTE };

struct pd_group_options {
	struct pd_pages_options in;
	enum pd_linkage linkage;
	struct pd_keep_options keep;
	enum pd_action action;
	double weight;			/* demote: of a duplicate, over 0 and below 1 */
	double max_loss;		/* share of its text that a duplicate may take with it, by the sketches; 1 or 0: all */
};

struct pd_group {
	const struct pd_group_options *o;
	struct pd_pages pages;
	struct pd_verdict *members;	/* by page */
	uint32_t *order;		/* members of clusters as they are given out */
	size_t n_members, n_clusters;
	size_t n_spared;		/* pages that would have taken more */
	/* its own */
	size_t at, end;			/* the next member; where its cluster ends */
	uint32_t cluster, size;
};

struct pd_group_member {
	uint32_t page, cluster, size;	/* clusters are numbered 1, 2, …; pages in this one */
	const struct pd_verdict *verdict;
};

extern const char *const pd_linkage_names[], *const pd_action_names[];	/* in the order of their enums, NULL at the end */

/* `o` must stay.  After an error release is needed too. */
int pd_group_open(struct pd_group *g, const struct pd_group_options *o, struct pd_err *e);
/* 1 a member, 0 the end. */
int pd_group_next(struct pd_group *g, struct pd_group_member *out);
void pd_group_release(struct pd_group *g);

#endif
