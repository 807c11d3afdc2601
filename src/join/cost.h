/* SPDX-License-Identifier: MIT
 *
 * What the steps of a join cost, in nanoseconds, and from that what a part of it costs (plan.h).  The one table of
 * measured constants is in cost.c; bench/calibrate measures them again.
 */
#ifndef PD_JOIN_COST_H
#define PD_JOIN_COST_H

#include "join/plan.h"
#include "join/scan.h"

struct pd_cost {
	double vector[PD_SCAN_WIDTHS];	/* one key with one vector of keys */
	int lanes[PD_SCAN_WIDTHS];	/* keys in a vector */
	double meeting;			/* two buckets that meet, before any key does */
	double candidate;		/* a pair that is near in its halves: fetched and looked at whole */
};

/* Whatever the path. */
#define PD_COST_BUCKET 1.25		/* a bucket that may be empty: cleared, summed, looked at */
#define PD_COST_PROBE .7		/* a neighbouring bucket, looked up */
#define PD_COST_VISIT 30.0		/* a bucket that is not empty, before it meets any */
#define PD_COST_RING 40.0		/* and each of its radii */
#define PD_COST_GATHER 9.7		/* a small bucket, listed and copied beside others; */
#define PD_COST_FAR 4.0			/* more when it must come from memory that is farther away, */
#define PD_COST_NEAR_BYTES 8e6		/* that is, when the table has more than so many bytes */
#define PD_COST_SORT_HALF 15.0		/* a key into its bucket, two passes over many keys; halves kept */
#define PD_COST_SORT_WHOLE 7.5		/* the same, all words kept, */
#define PD_COST_SORT_WORD 9.7		/* and for each word */
#define PD_COST_SORT_INNER 3.3		/* a key of a bucket into a bucket of its own, for each word */
#define PD_COST_SPLIT 2000.0		/* planning and clearing before a bucket is sorted again */

const struct pd_cost *pd_cost_of(enum pd_scan_path path);

/* n_a keys with n_b, in nanoseconds, those of a in one run and those of b in one. */
double pd_cost_cross(const struct pd_cost *c, enum pd_scan_width width, double n_a, double n_b);
/* The same for the b of a small bucket among many (gather.h); far: their table is larger than a cache. */
double pd_cost_gathered(const struct pd_cost *c, enum pd_scan_width width, double n_a, double n_b, bool far);

#endif
