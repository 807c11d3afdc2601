/* SPDX-License-Identifier: MIT
 *
 * The options of clustering, which `cluster` and `dedup` share.
 */
#ifndef PD_CMD_CLUSTER_H
#define PD_CMD_CLUSTER_H

#include "cmd/command.h"
#include "stage/cluster.h"

/* AT(member): `.at` of a member of struct pd_stage_cluster. */
#define PD_CLUSTER_OPTS(AT) \
	{ .type = PD_OPT_HEADING, .name = "Clusters" }, \
	{ .type = PD_OPT_CHOICE, .name = "linkage", .arg = "NAME", AT(linkage), .choices = pd_linkage_names, \
	  .help = "star (default): all near the page kept; connected: connected components" }, \
	{ .type = PD_OPT_TEXT, .name = "keep", .arg = "LIST", AT(keep), \
	  .help = "first, least-loss, longest, newest, oldest, shortest-url, quality, rank" }, \
	{ .type = PD_OPT_REAL, .name = "max-loss", .arg = "S", AT(group.max_loss), .min = 0.001, .max = 1, \
	  .help = "keep a page if more than this share of its text would be lost (0.15)" }, \
	{ .type = PD_OPT_TEXT, .name = "rank", .arg = "FILE", AT(group.keep.rank_file), \
	  .help = "lines of URL<TAB>number; --keep=rank keeps the smallest number" }, \
	{ .type = PD_OPT_TEXT, .name = "prefer-host", .arg = "FILE", AT(group.keep.prefer_hosts), \
	  .help = "hosts to prefer, best first; decides before --keep" }

#endif
