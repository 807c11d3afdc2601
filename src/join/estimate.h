/* SPDX-License-Identifier: MIT
 *
 * What a plan costs by the constants of cost.h, in CPU seconds of one thread, if bits are even and independent.
 */
#ifndef PD_JOIN_ESTIMATE_H
#define PD_JOIN_ESTIMATE_H

#include "join/plan.h"

/* How many values of `bits` bits lie within `radius` of one. */
double pd_ball(int bits, int radius);

/* All of a part with all of it. */
double pd_estimate_all(const struct pd_plan *p, const struct pd_plan_part *part);
/* telling[i]: bits of block i in which keys differ.  Depth 0: the whole join, whose tables may keep halves (set in the
 * plan, where it pays) and whose buckets may be split again; 1: inside a bucket.  p->cost: of the best plan so far; the
 * estimate of one that costs more may stop anywhere above. */
double pd_estimate_blocks(struct pd_plan *p, const int *telling, const struct pd_plan_part *part, int depth);
double pd_estimate_paper(int bits, size_t n_keys);

/* pd_plan_part at a depth (plan.c). */
void pd_plan_part_at(struct pd_plan *out, enum pd_plan_kind kind, const struct pd_plan_part *part, int depth);

#endif
