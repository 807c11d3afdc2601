/* SPDX-License-Identifier: MIT
 *
 * Groups of equal fingerprints -> the groups near each other, as far as they are verified, from both ends.
 * Partners of a row are emitted from the smaller row, so pairs in the order of their smaller group are all that most rows
 * need; the other way round only those pairs are kept whose smaller group may have a row behind one of the larger.
 *
 * Dense neighbourhoods.  Where thousands of fingerprints lie within k of each other, all pairs would be their number
 * squared.  So all pairs are joined only while there are no more than PD_NEAR_PAIRS a fingerprint, beyond those that chance
 * gives.  If there are more, fingerprints are taken in an order that depends on their values alone.  One that lies within k
 * of PD_NEAR_LEADERS or more of those taken before it is covered: it is linked to the first of them that it matches, in
 * the order of rows, as a page with the same fingerprint would be, and joined with no other.  What is not covered is joined
 * with all that is not, and so nothing is lost where no neighbourhood is dense.  Covered groups that match none of those
 * before are left to their sketches (`alone`).  With a scope or two sides nothing is linked so, and if there are more pairs than
 * that, all are left to their sketches, as long as all have one.
 */
#ifndef PD_MATCH_NEAR_H
#define PD_MATCH_NEAR_H

#include "join/join.h"
#include "match/links.h"

#define PD_NEAR_PAIRS 64
#define PD_NEAR_PAIRS_LEAST (1 << 20)	/* whatever the number of fingerprints */
#define PD_NEAR_LEADERS 32

#define PD_NEAR_LINKED 0x8000	/* in a pair's distance: one is covered, and linked to the other */

struct pd_match_near {
	struct pd_join_pairs after;	/* (group, one behind it), in order */
	struct pd_join_pairs before;	/* (group, one before it), in order */
	uint8_t *alone;			/* by the name of a group: its rows are left to their sketches; NULL: none is */
};

int pd_match_near_find(struct pd_match_near *near, const struct pd_match_set *m, struct pd_match_stats *stats, struct pd_err *e);
void pd_match_near_release(struct pd_match_near *near);

#endif
