/* SPDX-License-Identifier: MIT
 *
 * What `cluster` and whoever runs it as one of several steps share: the options of clustering, and the run from pairs to
 * verdicts.
 */
#ifndef PD_CMD_CLUSTER_H
#define PD_CMD_CLUSTER_H

#include "cmd/command.h"
#include "group/group.h"

struct pd_cluster_command {
	int linkage, action, format;
	const char *keep;		/* as typed */
	struct pd_group_options group;	/* complete after pd_cluster_settle, but for the inputs */
	bool quiet, ignore_damaged;
	const char *output;
};

/* AT(member): `.at` of a member of this struct. */
#define PD_CLUSTER_OPTS(AT) \
	{ .type = PD_OPT_HEADING, .name = "Clusters" }, \
	{ .type = PD_OPT_CHOICE, .name = "linkage", .arg = "NAME", AT(linkage), .choices = pd_linkage_names, \
	  .help = "star (default): all within reach of the page kept; connected: components" }, \
	{ .type = PD_OPT_TEXT, .name = "keep", .arg = "LIST", AT(keep), \
	  .help = "of first (default), longest, newest, oldest, shortest-url, quality, rank" }, \
	{ .type = PD_OPT_TEXT, .name = "rank", .arg = "FILE", AT(group.keep.rank_file), \
	  .help = "lines URL<TAB>number; --keep=rank keeps the smallest" }, \
	{ .type = PD_OPT_TEXT, .name = "prefer-host", .arg = "FILE", AT(group.keep.prefer_hosts), \
	  .help = "preferred hosts, best first; they come before --keep" }

/* Looks at options together and fills `group`; PD_ERR_USAGE. */
int pd_cluster_settle(struct pd_cluster_command *o, struct pd_err *e);
/* After pd_cluster_settle; returns the exit code. */
int pd_cluster_run(const struct pd_cluster_command *o, char **paths, int n_paths, struct pd_log *log);

#endif
