/* SPDX-License-Identifier: MIT
 *
 * All stages in one run: dumps -> dumps without near-duplicates, in a folder (folder.h), with a journal (journal.h) by
 * which a run that was broken off is resumed.
 */
#ifndef PD_DEDUP_DEDUP_H
#define PD_DEDUP_DEDUP_H

#include "dedup/journal.h"
#include "stage/cluster.h"
#include "stage/match.h"
#include "walk/walk.h"

struct pd_dedup_options {
	struct pd_walk_options walk;	/* first: rows of options are shared */
	struct pd_stage_match match;
	struct pd_stage_cluster cluster;
	const char *tmp_dir;
	const char *given;		/* all that was asked for and shapes the result: a run is resumed with the same */
	bool no_boilerplate, keep_others, remove_suspects, rewrite_revisits, link, keep_rows, dry_run, resume;
};

struct pd_dedup_counts {
	uint64_t pages, without_fingerprint, left_out, damaged, barren, bytes;	/* of the "# total" lines */
	uint64_t clusters, duplicates, suspects;
};

struct pd_dedup_result {
	struct pd_dedup_counts counts;
	struct pd_journal_sums removed;
	bool incomplete;		/* something could not be read for the report */
};

/* `o` is settled.  0, or negative and why. */
int pd_dedup(const struct pd_dedup_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_dedup_result *out,
	     struct pd_err *e);

#endif
