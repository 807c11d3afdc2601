/* SPDX-License-Identifier: MIT
 *
 * Groups of equal keys -> which of their members pair with which (match.h: linking, scope).  A million equal keys must not
 * cost a million squared: every question is answered from a group's first member, or from the run of one host in a
 * group.  Members are numbered as in the row set.
 */
#ifndef PD_MATCH_LINKS_H
#define PD_MATCH_LINKS_H

#include "match/equal.h"
#include "match/match.h"

/* Members of each group that lie on one side, ascending; with scope same-host by (host, member). */
struct pd_side_list {
	uint32_t *start, *rows;
};

struct pd_links {
	struct pd_groups groups;
	enum pd_scope scope;
	bool all_pairs;
	uint64_t *host;			/* by member; NULL with scope all */
	uint32_t *by_host;		/* each group's members again, by (host, member); NULL with scope all */
	const uint8_t *side;		/* by row of the set; NULL: all pair with all (links_against.c) */
	const uint32_t *row;		/* by member: its row */
	struct pd_side_list a, b;
	uint32_t *b_elsewhere;		/* other-hosts: a group's first member of B on another host than its first, or NONE */
	uint32_t *elsewhere;		/* other-hosts: a group's first member on another host than its first, or NONE */
};

struct pd_partner {
	uint32_t member;
	int distance;
	double similarity;	/* set by the caller */
};

struct pd_partners {
	struct pd_partner *v;
	size_t n, cap;
};

/* Takes over `groups`; `host_of_row` may be NULL with scope all. */
void pd_links_init(struct pd_links *l, struct pd_groups *groups, const struct pd_match_options *o, const uint32_t *row,
		   const uint64_t *host_of_row, const uint8_t *side_of_row);
void pd_links_release(struct pd_links *l);

/* The same, where only pairs of the two sides count: each row of A pairs with the first of B that the scope allows, or
 * with all of them. */
void pd_links_sides(struct pd_links *l);
void pd_links_sides_release(struct pd_links *l);
void pd_links_against(const struct pd_links *l, uint32_t a, uint32_t group, int distance, struct pd_partners *out);

/* Adds the members > a of a's own group that pair with it. */
void pd_links_equal(const struct pd_links *l, uint32_t a, int distance, struct pd_partners *out);
/* Adds the members > a of a group near a's that pair with it. */
void pd_links_near(const struct pd_links *l, uint32_t a, uint32_t group, int distance, struct pd_partners *out);

#endif
