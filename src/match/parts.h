/* SPDX-License-Identifier: MIT
 *
 * Groups of rows with the same fingerprint -> parts of such groups, whose rows also have similar sketches: what is linked
 * to its first row and joined with others through it alone.  Most groups are one part.
 *
 * A group's rows are taken in their order.  A row goes to the first part whose first row it is verified with (verify.h),
 * or begins a part of its own; so a million equal fingerprints cost a million looks, not a million squared.  With scope
 * same-host a part lies on one host.  Parts are groups of rows again, with the names of their first rows.
 */
#ifndef PD_MATCH_PARTS_H
#define PD_MATCH_PARTS_H

#include "match/groups.h"
#include "match/options.h"

#define PD_PARTS_TRIED 64	/* parts of a group (and host) that a row is compared with */

struct pd_match_part {
	uint32_t print, first;	/* names: of the group, of the part */
	uint64_t host;		/* with scope same-host */
};

/* The parts of those groups that have several, by group, then by host. */
struct pd_match_parts {
	struct pd_match_part *v;
	size_t n, cap;
};

/* `prints`: groups of equal fingerprints of the rows in `set`.  `out`: groups by part; not touched when p->n stays 0, that
 * is, when every group is one part. */
void pd_match_parts_split(struct pd_match_parts *p, const struct pd_match_groups *prints, const struct pd_rows_set *set, enum pd_match_scope scope,
		    struct pd_verifier *v, struct pd_match_groups *out);
void pd_match_parts_release(struct pd_match_parts *p);

/* The first PD_PARTS_TRIED parts of a group: v[*from] … v[*to - 1]; none when it is one part.  host: only those on it; NULL: all. */
void pd_match_parts_of(const struct pd_match_parts *p, uint32_t print, const uint64_t *host, size_t *from, size_t *to);
/* Has the group several? */
bool pd_match_parts_several(const struct pd_match_parts *p, uint32_t print);

#endif
