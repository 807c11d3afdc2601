/* SPDX-License-Identifier: MIT
 *
 * Rows with keys -> groups of rows whose keys are equal -> parts of such groups, whose rows also have similar sketches -> which
 * members pair with which.
 *
 * A group has the name of its first (smallest) row, and only multi-member groups, those of two rows or more, are written down.
 * Most rows are alone, and cost a bit and a half.
 *
 *	rows      0 1 2 3 4      is_multi  1 1 1 0 1      multi (group of such rows)  0 1 0 1
 *	name      0 1 0 3 1      start    0 2 4          rows                       0 2 | 1 4
 *
 * A group's rows are taken in their order.  A row goes to the first part whose first row it is verified with (verify.h),
 * or begins a part of its own; so a million equal fingerprints cost a million comparisons, not a million squared.  With scope
 * same-host a part lies on one host.  Parts are groups of rows again, with the names of their first rows; what is in one is
 * linked to its first row and joined with others through it alone.  Most groups are one part.
 *
 * A million equal keys must not cost a million squared: every question is answered from a group's first member, or from the
 * run of one host in a group.  Members are numbered as in the row set.
 *
 * Scope: `all`; `same-host` (linking happens inside a host); `other-hosts` (no pair inside a host, and nothing is
 * collapsed that would lose a pair between hosts); `same-language`, which is same-host with the language for the host; the
 * same two with the registered domain, or an owner that a table tells: below, "host" is what the scope compares (rows->realm).
 */
#ifndef PD_MATCH_GROUPS_H
#define PD_MATCH_GROUPS_H

#include "base/err.h"
#include "base/sort.h"
#include "join/plan.h"
#include "link/rules.h"
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

/* Rows that share a bucket, of many others: what is decided by all rows, and which pairs are these rows' own. */
struct pd_match_share {
	uint64_t near_most;		/* pairs of fingerprints within k, in all rows; if there are more, none is given; 0: as many as there are */
	bool (*is_own)(const void *ctx, const uint64_t *a, const uint64_t *b);	/* a pair of fingerprints; NULL: all are */
	const void *ctx;
	bool apart;			/* of each part there is its first row alone */
	int band;			/* the one to search, from 0 */
#define PD_BANDS_ALL (-1)
#define PD_BANDS_NONE (-2)
	uint64_t *full;		/* by row, a bit for each band: its bucket is full */
	size_t full_words;		/* of each row */
	bool full_known;		/* else buckets that are full are noted here, and not searched */
};

struct pd_match_options {
	int k;			/* Hamming distance <= k */
	enum pd_join_plan_kind plan;
	struct pd_verify_options verify;
	enum pd_match_candidates candidates;
	int band_width;		/* minima in a band; 0: by the number of rows */
	int band_reach;		/* bits in which fingerprints of one band may differ, and one; 0: by the number of rows */
	struct pd_match_share *share;	/* NULL: these rows are all rows */
	enum pd_match_scope scope;
	const char *scope_name;		/* as typed; NULL: the scope's own */
	uint64_t owners;		/* checksum of the table of owners; 0: none */
	const struct pd_rules *rules;	/* on links, that pairs were chosen by; NULL: none */
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
	bool dense;		/* more pairs within k than share->near_most */
	bool many_parts;	/* a fingerprint has more parts than are compared (PD_PARTS_TRIED) */
	uint64_t linked;	/* pages that another stands for in a dense neighbourhood of fingerprints */
	int band_width, band_reach;
	uint64_t band_looks;	/* pairs of sketches that shared a band and were compared */
	double join_seconds, bands_seconds, verify_seconds;	/* CPU, all threads */
};

/* Names of candidates, in the order of their enum, NULL at the end. */
extern const char *const pd_match_candidates_names[];

/* --- groups --- */

struct pd_match_groups {
	size_t n_rows, n_groups;	/* those of one row included */
	size_t n_multi;		/* 0: there is nothing below */
	uint32_t *start;		/* n_multi + 1: where a group's rows begin; groups in the order of their first rows */
	uint32_t *rows;			/* of multi-member group 0, ascending, then of 1 … */
	uint64_t *is_multi;		/* a bit for each row */
	uint32_t *rank;			/* by word of these bits: how many rows before it are in such a group */
	uint32_t *multi;		/* which group: of the rows in one, in their order */
	struct pd_array memory[3];	/* of start, rows and multi */
};

/* Some rows of a group, in an order; a single one needs no array. */
struct pd_match_members {
	const uint32_t *v;		/* NULL: `one` alone */
	size_t n;
	uint32_t one;
};

static inline uint32_t pd_match_members_at(const struct pd_match_members *r, size_t i)
{
	return r->v ? r->v[i] : r->one;
}

static inline bool pd_match_groups_is_multi(const struct pd_match_groups *g, uint32_t row)
{
	return g->n_multi && (g->is_multi[row / 64] >> (row % 64) & 1);
}

void pd_match_groups_release(struct pd_match_groups *g);
/* Which multi-member group a row of one is in. */
uint32_t pd_match_groups_multi(const struct pd_match_groups *g, uint32_t row);
/* The first row of a multi-member group that is not below `row`; UINT32_MAX: there is none. */
uint32_t pd_match_groups_next(const struct pd_match_groups *g, uint32_t row);
/* The names of all groups, ascending, in a block: what pd_join takes for keys that differ.  NULL: every row is alone. */
uint32_t *pd_match_groups_names(const struct pd_match_groups *g, struct pd_array *out, struct pd_budget *budget);

/* The name of a row's group. */
static inline uint32_t pd_match_groups_name(const struct pd_match_groups *g, uint32_t row)
{
	return pd_match_groups_is_multi(g, row) ? g->rows[g->start[pd_match_groups_multi(g, row)]] : row;
}

/* All rows of the group that `row` is in. */
static inline struct pd_match_members pd_match_groups_members(const struct pd_match_groups *g, uint32_t row)
{
	if (!pd_match_groups_is_multi(g, row))
		return (struct pd_match_members){ NULL, 1, row };
	uint32_t multi = pd_match_groups_multi(g, row);
	return (struct pd_match_members){ g->rows + g->start[multi], g->start[multi + 1] - g->start[multi], 0 };
}

/* Row i has the key keys[i * words] … of `words` words, 1 to PD_KEY_WORDS; rows come numbered in the order of ids.  `out` is
 * filled anew, its memory kept from before is given back first.  The same for any number of threads and any budget (NULL:
 * none).  PD_ERR_LIMIT: 2^31 rows or more. */
int pd_match_groups_find(const uint64_t *keys, int words, size_t n, int threads, struct pd_budget *budget, struct pd_match_groups *out,
		    struct pd_err *e);

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

/* What is known of one set of rows before groups near each other are found. */
struct pd_match_set {
	const struct pd_rows *rows;
	const struct pd_match_options *o;
	const struct pd_rows_set *set;
	bool digests;			/* no fingerprints here: only equal texts match */
	bool verifies;			/* pairs are verified */
	struct pd_match_groups fingerprints;	/* by fingerprint alone, when some have several parts */
	struct pd_match_parts parts;
	struct pd_match_links links;		/* of parts */
};

/* rows, o, set and digests are filled in by the caller.  An empty set has no groups. */
int pd_match_set_open(struct pd_match_set *m, double *verify_seconds, struct pd_err *e);
void pd_match_set_release(struct pd_match_set *m);

/* Groups of equal fingerprints, whatever their parts. */
static inline const struct pd_match_groups *pd_match_set_prints(const struct pd_match_set *m)
{
	return m->parts.n ? &m->fingerprints : &m->links.groups;
}

/* May rows of a group that are not its first represent it? */
static inline bool pd_match_set_all_represent(const struct pd_match_set *m, uint32_t print)
{
	return m->o->all_pairs || m->rows->side || m->o->scope != PD_SCOPE_ALL || pd_match_parts_several(&m->parts, print);
}

/* --- partners: members > a that pair with it, added to out --- */

/* Those of a's own group. */
void pd_match_add_equal(const struct pd_match_set *m, uint32_t a, struct pd_match_partners *out);
/* May a row have partners in groups near its own?  Where equal rows are linked, only one of them has. */
bool pd_match_represents(const struct pd_match_set *m, uint32_t a);
/* Those of a group near a's, the first parts of it where they are many; a represents its own group.  linked: one of the two
 * groups is linked to the other. */
void pd_match_add_near(const struct pd_match_set *m, uint32_t a, uint32_t print, int distance, bool linked,
		       struct pd_match_partners *out);

#endif
