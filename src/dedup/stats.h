/* SPDX-License-Identifier: MIT
 *
 * What came of a run -> stats.json.  The same for a run that was broken off and resumed.
 */
#ifndef PD_DEDUP_STATS_H
#define PD_DEDUP_STATS_H

#include "base/err.h"
#include "base/span.h"
#include "dedup/journal.h"

struct pd_dedup_counts {
	uint64_t pages, without_fingerprint, left_out, damaged, barren, bytes;	/* of the "# total" lines */
	uint64_t clusters, duplicates;
};

struct pd_dedup_stats {
	struct pd_span options;
	struct pd_dedup_counts counts;
	const struct pd_journal_sums *removed;	/* NULL: nothing was written */
	const char *table;			/* what the sites repeat; NULL: not known */
};

/* From a file of verdicts. */
int pd_dedup_stats_count(const char *verdicts, struct pd_dedup_counts *out, struct pd_err *e);
int pd_dedup_stats_write(const struct pd_dedup_stats *s, const char *path, struct pd_err *e);

#endif
