/* SPDX-License-Identifier: MIT
 *
 * What is known of one set of rows once its keys were joined: its groups of equal keys, in their parts, and which groups
 * lie near each other.  Made by match.c, read by all threads in give.c.
 */
#ifndef PD_MATCH_MATCHING_H
#define PD_MATCH_MATCHING_H

#include "match/bands.h"
#include "match/links.h"
#include "match/near.h"
#include "match/parts.h"

struct pd_matching {
	const struct pd_rows *rows;
	const struct pd_match_options *o;
	const struct pd_row_set *set;
	bool digests;			/* no fingerprints here: only equal texts match */
	bool looks;			/* pairs are looked at a second time */
	struct pd_groups prints;	/* by fingerprint alone, when some have several parts */
	struct pd_parts parts;
	struct pd_links links;		/* of parts */
	struct pd_match_near_groups near;	/* groups by fingerprint */
	struct pd_bands bands;	/* candidates by sketch */
};

/* Groups of equal fingerprints, whatever their parts. */
static inline const struct pd_groups *pd_matching_prints(const struct pd_matching *m)
{
	return m->parts.n ? &m->prints : &m->links.groups;
}

/* May rows of a group that are not its first speak (links.h)? */
static inline bool pd_matching_all_speak(const struct pd_matching *m, uint32_t print)
{
	return m->o->all_pairs || m->rows->side || m->o->scope != PD_SCOPE_ALL || pd_parts_several(&m->parts, print);
}

/* The pairs of both sets, in the order of rows. */
int pd_matching_give(const struct pd_matching *prints, const struct pd_matching *digests, const struct pd_match_sink *sink,
		     struct pd_match_stats *stats);

#endif
