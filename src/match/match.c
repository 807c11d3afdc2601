/* SPDX-License-Identifier: MIT */
#include "match/match.h"

#include <stdlib.h>

#include "base/threads.h"
#include "match/equal.h"
#include "match/matching.h"

static void release(struct pd_matching *m)
{
	pd_groups_release(&m->prints);
	pd_parts_release(&m->parts);
	pd_links_release(&m->links);
	pd_match_near_release(&m->near);
	pd_bands_release(&m->bands);
}

/* only: the groups that take part (near.h), within k; NULL: all. */
static int join_sketches(struct pd_matching *m, const uint8_t *only, struct pd_match_stats *stats, struct pd_err *e)
{
	double t = pd_cpu_seconds();
	int status = PD_OK;
	m->bands.most_distance = only ? m->o->k : m->rows->bits;
	if (m->rows->sketched && !m->o->verify.off)
		status = pd_bands_find(&m->bands, m->rows, m->set, &m->links, m->o, pd_matching_prints(m), only, e);
	stats->band_width = m->bands.width;
	stats->bands_seconds = pd_cpu_seconds() - t;
	return status;
}

/* Groups of equal keys become links of the parts that are alike by their sketches too. */
static void make_links(struct pd_matching *m, struct pd_match_stats *stats)
{
	struct pd_verify_options verify = m->o->verify;
	struct pd_verifier verifier = { .o = &verify, .rows = m->rows };
	struct pd_groups by_part = { 0 };
	double t = pd_cpu_seconds();
	/* Pages of one host are no pair there, so they may stand together as pages of two would. */
	if (m->o->scope == PD_SCOPE_OTHER_HOSTS)
		verify.least_same_host = verify.least;
	if (m->looks && !m->o->all_pairs)
		pd_parts_split(&m->parts, &m->prints, m->set, m->o->scope, &verifier, &by_part);
	stats->verify_seconds += pd_cpu_seconds() - t;
	pd_verifier_release(&verifier);
	pd_links_init(&m->links, m->parts.n ? &by_part : &m->prints, m->o, m->rows, m->set);
}

static int match_open(struct pd_matching *m, struct pd_match_stats *stats, struct pd_err *e)
{
	if (!m->set->n)
		return PD_OK;
	int status = pd_equal_groups(m->set->keys, m->set->words, m->set->n, m->o->threads, m->rows->budget, &m->prints, e);
	if (status)
		return status;
	m->looks = !m->digests && !m->o->verify.off && (m->rows->sketched || m->o->verify.k_unknown < m->o->k);
	make_links(m, stats);
	if (!m->digests && m->o->candidates != PD_CANDIDATES_BANDS)
		status = pd_match_near_find(&m->near, m, stats, e);
	if (!status && !m->digests && (m->o->candidates != PD_CANDIDATES_HAMMING || m->near.alone))
		status = join_sketches(m, m->o->candidates == PD_CANDIDATES_HAMMING ? m->near.alone : NULL, stats, e);
	return status ? status : pd_budget_check(m->rows->budget, e);
}

int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_match_sink *sink,
	     struct pd_match_stats *stats, struct pd_err *e)
{
	struct pd_matching prints = { .rows = rows, .o = o, .set = &rows->prints };
	struct pd_matching digests = { .rows = rows, .o = o, .set = &rows->digests, .digests = true };
	*stats = (struct pd_match_stats){ 0 };
	int status = match_open(&prints, stats, e);
	if (!status)
		status = match_open(&digests, stats, e);
	if (!status)
		status = pd_matching_give(&prints, &digests, sink, stats);
	release(&prints);
	release(&digests);
	return status;
}
