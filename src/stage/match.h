/* SPDX-License-Identifier: MIT
 *
 * Files of fp rows -> a file of pairs, with all that is said on the way.  What `match` does, and `dedup` as one of several
 * stages.
 */
#ifndef PD_STAGE_MATCH_H
#define PD_STAGE_MATCH_H

#include "base/terminal.h"
#include "write/write.h"

/* Done, but rows that could not be read were left out, which the options do not call right. */
enum { PD_STAGE_DAMAGED = 1 };

struct pd_stage_match {
	int preset;			/* -1: as the rows were made */
	int k, plan, scope, jobs, format, candidates, band_width;
	bool all_pairs, explain, quiet, ignore_damaged;
	bool one_more;			/* k and one bit more, for a report on what that would change */
	struct pd_verify_request second_look;	/* off with the preset paper, unless asked for */
	const char *output, *tmp_dir, *stats;
	const char *method;		/* what is joined, as typed; NULL: what the rows were signed by */
	const struct pd_methods *methods;	/* the same, read already; NULL: as `method` says */
	const char *sites;		/* whose hosts are, for the scopes same-site and other-sites */
	const char *rule, *rule_weights, *links;	/* rules on links as typed, and rows of `link`; NULL: none */
	const char *save;		/* only write the rows as a key file */
	size_t memory;			/* 0: half of the machine's */
	char **against;			/* the collection, when there is one */
	int n_against;
};

struct pd_stage_match pd_stage_match_defaults(void);
/* Do the options of the second look go together?  Asked before hours are spent. */
int pd_stage_match_check(const struct pd_stage_match *o, struct pd_err *e);
/* 0, PD_STAGE_DAMAGED, or negative, and why. */
int pd_stage_match_run(const struct pd_stage_match *o, char **paths, int n_paths, struct pd_log *log, struct pd_err *e);

#endif
