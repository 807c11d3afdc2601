/* SPDX-License-Identifier: MIT
 *
 * What `cluster` and `dedup` share: the options of clustering, and the run from pairs to verdicts.
 */
#ifndef PD_CMD_CLUSTER_H
#define PD_CMD_CLUSTER_H

#include "base/buf.h"
#include "cmd/command.h"

struct pd_cluster_command {
	int linkage, keep, format;
	bool quiet, ignore_damaged;
	const char *output;
};

extern const char *const pd_linkage_names[], *const pd_keep_names[];

/* AT(member): `.at` of a member of this struct. */
#define PD_CLUSTER_OPTS(AT) \
	{ .type = PD_OPT_HEADING, .name = "Clusters" }, \
	{ .type = PD_OPT_CHOICE, .name = "linkage", .arg = "NAME", AT(linkage), .choices = pd_linkage_names, \
	  .help = "star (default): all near the page kept; connected: chains" }, \
	{ .type = PD_OPT_CHOICE, .name = "keep", .arg = "NAME", AT(keep), .choices = pd_keep_names, \
	  .help = "first (default), longest, newest or shortest-url" }

int pd_cluster_settle(struct pd_cluster_command *o, struct pd_err *e);
void pd_cluster_say_options(const struct pd_cluster_command *o, struct pd_buf *out);
int pd_cluster_run(const struct pd_cluster_command *o, char **paths, int n_paths, struct pd_log *log);

#endif
