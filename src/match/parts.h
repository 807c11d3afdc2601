/* SPDX-License-Identifier: MIT
 *
 * Groups of rows with the same fingerprint -> parts of such groups, whose rows also have similar sketches: what is linked
 * to its first row and joined with others through it alone.  Most groups are one part.
 *
 * A group's rows are taken in their order.  A row goes to the first part whose first row it is verified with (verify.h),
 * or begins a part of its own; so a million equal fingerprints cost a million looks, not a million squared.  With scope
 * same-host a part lies on one host.  Part g is group g's first part; those that follow have numbers from n_prints on:
 *
 *	part   0 ... n_prints - 1 | n_prints ... n_groups - 1
 *	group  0 ... n_prints - 1 | extra[part - n_prints].group, ascending, then by host
 */
#ifndef PD_MATCH_PARTS_H
#define PD_MATCH_PARTS_H

#include "match/equal.h"
#include "match/match.h"

#define PD_PARTS_TRIED 64	/* parts of a group (and host) that a row is compared with */

struct pd_extra_part {
	uint32_t group;
	uint64_t host;		/* with scope same-host */
};

struct pd_parts {
	size_t n_prints;
	struct pd_extra_part *extra;
	size_t n_extra, cap_extra;
};

/* `groups` becomes groups by part.  set: the rows with fingerprints. */
void pd_parts_split(struct pd_parts *p, struct pd_groups *groups, const struct pd_row_set *set, enum pd_scope scope,
		    struct pd_verifier *v);
void pd_parts_release(struct pd_parts *p);

static inline uint32_t pd_part_print(const struct pd_parts *p, uint32_t part)
{
	return part < p->n_prints ? part : p->extra[part - p->n_prints].group;
}

/* The extra parts of a group of equal fingerprints: numbers n_prints + *from ... n_prints + *to - 1.  host: only those on
 * it; NULL: all. */
void pd_parts_extra(const struct pd_parts *p, uint32_t group, const uint64_t *host, size_t *from, size_t *to);

#endif
