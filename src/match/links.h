/* SPDX-License-Identifier: MIT
 *
 * Groups of equal keys -> which of their members pair with which (linking, scope).  A million equal keys must not
 * cost a million squared: every question is answered from a group's first member, or from the run of one host in a
 * group.  Members are numbered as in the row set; groups have the names of their first members (groups.h).
 *
 * Groups of rows with the same fingerprint -> parts of such groups, whose rows also have similar sketches: what is linked
 * to its first row and joined with others through it alone.  Most groups are one part.
 *
 * A group's rows are taken in their order.  A row goes to the first part whose first row it is verified with (verify.h),
 * or begins a part of its own; so a million equal fingerprints cost a million looks, not a million squared.  With scope
 * same-host a part lies on one host.  Parts are groups of rows again, with the names of their first rows.
 *
 * How rows are matched, and what that came to.
 *
 * Scope (M26): `all`; `same-host` (linking happens inside a host); `other-hosts` (no pair inside a host, and nothing is
 * collapsed that would lose a pair between hosts); `same-language`, which is same-host with the language for the host; the
 * same two with the registered domain, or an owner that a table tells: below, "host" is what the scope compares (rows->realm).
 */
#ifndef PD_MATCH_LINKS_H
#define PD_MATCH_LINKS_H

#include "join/plan.h"
#include "match/groups.h"
#include "match/verify.h"

/* --- how rows are matched --- */

/* Where pairs come from that are then verified: fingerprints within k, bands of the sketches (bands.h). */
enum pd_match_candidates { PD_CANDIDATES_HAMMING, PD_CANDIDATES_BANDS, PD_CANDIDATES_BOTH };

enum pd_match_scope { PD_SCOPE_ALL, PD_SCOPE_SAME_HOST, PD_SCOPE_OTHER_HOSTS, PD_SCOPE_SAME_LANGUAGE };

/* Does nothing pair but what is of one realm? */
static inline bool pd_match_scope_inside(enum pd_match_scope scope)
{
	return scope == PD_SCOPE_SAME_HOST || scope == PD_SCOPE_SAME_LANGUAGE;
}

/* What is typed: a scope, and what it keeps together or apart, which the rows must know of themselves. */
struct pd_match_scope_choice {
	const char *name;
	enum pd_match_scope scope;
	enum pd_rows_realm realms;
	bool table;		/* whose a page is says a table */
};

extern const struct pd_match_scope_choice pd_match_scope_choices[];
extern const char *const pd_match_scope_names[];	/* of the choices, in their order; NULL at the end */

struct pd_match_options {
	int k;			/* Hamming distance <= k */
	enum pd_join_plan_kind plan;
	struct pd_verify_options verify;
	enum pd_match_candidates candidates;
	int band_width;		/* minima in a band; 0: by the number of rows */
	enum pd_match_scope scope;
	const char *scope_name;		/* as typed; NULL: the scope's own */
	uint64_t owners;		/* checksum of the table of owners; 0: none */
	bool all_pairs;
	int threads;
	struct pd_doubts *doubts;	/* pairs that are doubted are noted here; NULL: nowhere */
};

static inline struct pd_verifier pd_match_verifier(const struct pd_match_options *o, const struct pd_rows *rows)
{
	return (struct pd_verifier){ .o = &o->verify, .rows = rows, .doubts = o->doubts };
}

struct pd_match_stats {
	size_t distinct;	/* different fingerprints */
	uint64_t pairs;
	struct pd_join_plan plan;
	uint64_t candidates;	/* pairs of different fingerprints within k that were verified */
	uint64_t linked;	/* pages that another stands for in a dense neighbourhood of fingerprints (near.h) */
	int band_width, band_reach;
	uint64_t band_looks;	/* pairs of sketches that shared a band and were compared */
	double join_seconds, bands_seconds, verify_seconds;	/* CPU, all threads */
};

/* Names of candidates, in the order of their enum, NULL at the end. */
extern const char *const pd_match_candidates_names[];

/* --- parts of groups --- */

#define PD_PARTS_TRIED 64	/* parts of a group (and host) that a row is compared with */

struct pd_match_part {
	uint32_t print, first;	/* names: of the group, of the part */
	uint64_t host;		/* where a scope is inside one */
};

/* The parts of those groups that have several, by group, then by host. */
struct pd_match_parts {
	struct pd_match_part *v;
	size_t n, cap;
};

/* The first PD_PARTS_TRIED parts of a group: v[*from] … v[*to - 1]; none when it is one part.  host: only those on it; NULL: all. */
void pd_match_parts_of(const struct pd_match_parts *p, uint32_t print, const uint64_t *host, size_t *from, size_t *to);
/* Has the group several? */
bool pd_match_parts_several(const struct pd_match_parts *p, uint32_t print);

/* --- links --- */

/* Members of each multi-member group that lie on one side, ascending; where the scope is inside a host by (host, member). */
struct pd_match_side {
	uint32_t *start, *rows;
	uint8_t side;
};

struct pd_match_links {
	struct pd_match_groups groups;
	enum pd_match_scope scope;
	bool all_pairs;
	const uint64_t *host;		/* by member; NULL with scope all */
	struct pd_array own_host;	/* the same, when it is not that of the rows */
	uint32_t *by_host;		/* groups.rows again, each group by (host, member); NULL with scope all */
	struct pd_array by_host_memory;
	uint32_t *elsewhere;		/* other-hosts: a group's first member on another host than its first, or NONE */
	const struct pd_rows *rows;
	const struct pd_rows_set *set;
	/* Where only pairs of two sides count: each row of A pairs with the first of B that the scope allows, or with all. */
	const uint8_t *side;		/* by row; NULL: all pair with all */
	struct pd_match_side a, b;
	uint32_t *b_elsewhere;		/* other-hosts: a group's first member of B on another host than its first, or NONE */
};

struct pd_match_partner {
	uint32_t member;
	int distance;
	double similarity;	/* set by the caller, like what follows */
	bool linked;
};

struct pd_match_partners {
	struct pd_match_partner *v;
	size_t n, cap;
};

/* Adds the members > a of a's own group that pair with it. */
void pd_match_links_equal(const struct pd_match_links *l, uint32_t a, int distance, struct pd_match_partners *out);
/* May a row have partners in groups near its own?  Where equal rows are linked, only one of them has. */
bool pd_match_links_represents(const struct pd_match_links *l, uint32_t a);
/* Adds the members > a of a group near a's that pair with it, which represents its group. */
void pd_match_links_near(const struct pd_match_links *l, uint32_t a, uint32_t group, int distance, struct pd_match_partners *out);

/* What is known of one set of rows before groups near each other are looked for. */
struct pd_match_set {
	const struct pd_rows *rows;
	const struct pd_match_options *o;
	const struct pd_rows_set *set;
	bool digests;			/* no fingerprints here: only equal texts match */
	bool looks;			/* pairs are verified */
	struct pd_match_groups prints;	/* by fingerprint alone, when some have several parts */
	struct pd_match_parts parts;
	struct pd_match_links links;		/* of parts */
};

/* rows, o, set and digests are filled in by the caller.  An empty set has no groups. */
int pd_match_set_open(struct pd_match_set *m, double *verify_seconds, struct pd_err *e);
void pd_match_set_release(struct pd_match_set *m);

/* Groups of equal fingerprints, whatever their parts. */
static inline const struct pd_match_groups *pd_match_set_prints(const struct pd_match_set *m)
{
	return m->parts.n ? &m->prints : &m->links.groups;
}

/* May rows of a group that are not its first represent it? */
static inline bool pd_match_set_all_represent(const struct pd_match_set *m, uint32_t print)
{
	return m->o->all_pairs || m->rows->side || m->o->scope != PD_SCOPE_ALL || pd_match_parts_several(&m->parts, print);
}

#endif
