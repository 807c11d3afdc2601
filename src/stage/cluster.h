/* SPDX-License-Identifier: MIT
 *
 * Files of pairs -> a file of verdicts, with all that is said on the way.  What `cluster` does, and `dedup` as one of
 * several stages.
 */
#ifndef PD_STAGE_CLUSTER_H
#define PD_STAGE_CLUSTER_H

#include "base/terminal.h"
#include "group/group.h"
#include "stage/match.h"

struct pd_stage_cluster {
	int linkage, action, format, scope;
	const char *keep;		/* as typed */
	char *shingles;			/* a file of fp --shingles; NULL: none */
	bool texts_follow;		/* group.shingles are set later */
	struct pd_group_options group;	/* complete after pd_stage_cluster_settle, but for the inputs */
	bool quiet, ignore_damaged;
	const char *output;
};

/* Looks at options together and fills `group`; PD_ERR_USAGE. */
int pd_stage_cluster_settle(struct pd_stage_cluster *o, struct pd_err *e);
/* After pd_stage_cluster_settle: 0, PD_STAGE_DAMAGED, or negative, and why. */
int pd_stage_cluster_run(const struct pd_stage_cluster *o, char **paths, int n_paths, struct pd_log *log, struct pd_err *e);

#endif
