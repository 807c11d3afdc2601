/* SPDX-License-Identifier: MIT */
#include "match/match.h"

#include "base/threads.h"

const char *const pd_match_scope_names[] = { "all", "same-host", "other-hosts", NULL };
const char *const pd_match_candidates_names[] = { "hamming", "bands", "both", NULL };

/* Of rows without fingerprints only equal texts match. */
static int find_near(struct pd_match_found *f, struct pd_match_stats *stats, struct pd_err *e)
{
	const struct pd_match_set *m = &f->set;
	int status = PD_OK;
	if (!m->set->n || m->digests)
		return PD_OK;
	if (m->o->candidates != PD_CANDIDATES_BANDS)
		status = pd_match_near_find(&f->near, m, stats, e);
	if (!status && (m->o->candidates != PD_CANDIDATES_HAMMING || f->near.alone)) {
		double t = pd_cpu_seconds();
		status = pd_match_bands_find(&f->bands, m, m->o->candidates == PD_CANDIDATES_HAMMING ? f->near.alone : NULL, e);
		stats->band_width = f->bands.width;
		stats->bands_seconds = pd_cpu_seconds() - t;
	}
	return status;
}

static int find(struct pd_match_found *f, struct pd_match_stats *stats, struct pd_err *e)
{
	int status = pd_match_set_open(&f->set, &stats->verify_seconds, e);
	if (!status)
		status = find_near(f, stats, e);
	return status ? status : pd_budget_check(f->set.rows->budget, e);
}

static void release(struct pd_match_found *f)
{
	pd_match_set_release(&f->set);
	pd_match_near_release(&f->near);
	pd_match_bands_release(&f->bands);
}

int pd_match(const struct pd_rows *rows, const struct pd_match_options *o, const struct pd_match_sink *sink,
	     struct pd_match_stats *stats, struct pd_err *e)
{
	struct pd_match_found prints = { .set = { .rows = rows, .o = o, .set = &rows->prints } };
	struct pd_match_found digests = { .set = { .rows = rows, .o = o, .set = &rows->digests, .digests = true } };
	*stats = (struct pd_match_stats){ 0 };
	int status = find(&prints, stats, e);
	if (!status)
		status = find(&digests, stats, e);
	if (!status)
		status = pd_match_emit(&prints, &digests, sink, &stats->pairs);
	release(&prints);
	release(&digests);
	return status;
}
