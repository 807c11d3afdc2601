/* SPDX-License-Identifier: MIT
 *
 * Groups of equal keys -> which of their members pair with which (match.h: linking, scope).  A million equal keys must not
 * cost a million squared: every question is answered from a group's first member, or from the run of one host in a
 * group.  Members are numbered as in the row set; groups have the names of their first members (groups.h).
 */
#ifndef PD_MATCH_LINKS_H
#define PD_MATCH_LINKS_H

#include "match/groups.h"
#include "match/match.h"

/* Members of each crowd that lie on one side, ascending; with scope same-host by (host, member). */
struct pd_side_list {
	uint32_t *start, *rows;
	uint8_t side;
};

struct pd_links {
	struct pd_groups groups;
	enum pd_scope scope;
	bool all_pairs;
	const uint64_t *host;		/* by member; NULL with scope all */
	struct pd_array own_host;	/* the same, when it is not that of the rows */
	uint32_t *by_host;		/* groups.rows again, each crowd by (host, member); NULL with scope all */
	struct pd_array by_host_memory;
	uint32_t *elsewhere;		/* other-hosts: a crowd's first member on another host than its first, or NONE */
	const struct pd_rows *rows;
	const struct pd_row_set *set;
	/* where only pairs of two sides count (links_against.c) */
	const uint8_t *side;		/* by row; NULL: all pair with all */
	struct pd_side_list a, b;
	uint32_t *b_elsewhere;		/* other-hosts: a crowd's first member of B on another host than its first, or NONE */
};

struct pd_partner {
	uint32_t member;
	int distance;
	double similarity;	/* set by the caller, like what follows */
	bool linked;
};

struct pd_partners {
	struct pd_partner *v;
	size_t n, cap;
};

/* Takes over `groups`. */
void pd_links_init(struct pd_links *l, struct pd_groups *groups, const struct pd_match_options *o, const struct pd_rows *rows,
		   const struct pd_row_set *set);
void pd_links_release(struct pd_links *l);

/* Those members of the group that `group` names that are on the host of `a`. */
struct pd_row_run pd_links_host_run(const struct pd_links *l, uint32_t group, uint32_t a);

/* The same, where only pairs of the two sides count: each row of A pairs with the first of B that the scope allows, or
 * with all of them. */
void pd_links_sides(struct pd_links *l);
void pd_links_sides_release(struct pd_links *l);
void pd_links_against(const struct pd_links *l, uint32_t a, uint32_t group, int distance, struct pd_partners *out);

/* Adds the members > a of a's own group that pair with it. */
void pd_links_equal(const struct pd_links *l, uint32_t a, int distance, struct pd_partners *out);
/* May a row have partners in groups near its own?  Where equal rows are linked, only one of them has. */
bool pd_links_speaks(const struct pd_links *l, uint32_t a);
/* Adds the members > a of a group near a's that pair with it, which speaks. */
void pd_links_near(const struct pd_links *l, uint32_t a, uint32_t group, int distance, struct pd_partners *out);

#endif
