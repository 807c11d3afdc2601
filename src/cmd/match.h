/* SPDX-License-Identifier: MIT
 *
 * What `match` and `dedup` share: the options of matching, and the run from fp rows to pairs.
 */
#ifndef PD_CMD_MATCH_H
#define PD_CMD_MATCH_H

#include "cmd/command.h"
#include "write/pair_row.h"

struct pd_match_command {
	int preset;			/* -1: as the rows were made */
	int k, plan, scope, jobs, format, candidates, band_width;
	bool all_pairs, explain, quiet, ignore_damaged;
	bool one_more;			/* k and one bit more, for a report on what that would change */
	struct pd_verify_request second_look;	/* off with the preset paper, unless asked for */
	const char *output, *tmp_dir, *stats;
	const char *save;		/* only write the rows as a key file */
	size_t memory;			/* 0: half of the machine's */
	char **against;			/* the collection, when there is one */
	int n_against;
};

/* AT(member): `.at` of a member of this struct. */
#define PD_MATCH_OPTS(AT) \
	{ .type = PD_OPT_HEADING, .name = "Matching" }, \
	{ .type = PD_OPT_INT, .letter = 'k', .name = "distance", .arg = "N", AT(k), .min = 0, .max = 64, \
	  .help = "pairs that differ in at most N bits (default: by the number of pages)" }, \
	{ .type = PD_OPT_CHOICE, .name = "candidates", .rare = true, .arg = "NAME", AT(candidates), .choices = pd_match_candidates_names, \
	  .help = "hamming (default), bands of the sketches, or both" }, \
	{ .type = PD_OPT_INT, .name = "band-width", .rare = true, .arg = "N", AT(band_width), .min = 1, .max = 64, \
	  .help = "minima in a band (default: by the number of pages)" }, \
	{ .type = PD_OPT_TEXT, .name = "similar", .arg = "P%", AT(second_look.similar), \
	  .help = "pages are alike when they share P% of their text, say 90%" }, \
	{ .type = PD_OPT_REAL, .name = "similarity", .rare = true, .arg = "S", AT(second_look.similarity), .min = 0, .max = 1, \
	  .help = "similarity that pairs need, by their sketches (0.5)" }, \
	{ .type = PD_OPT_REAL, .name = "similarity-same-host", .rare = true, .arg = "S", AT(second_look.similarity_same_host), \
	  .min = 0, .max = 1, .help = "the same for two pages of one host (0.7)" }, \
	{ .type = PD_OPT_SWITCH, .name = "verify", AT(second_look.verify), .help = "verify pairs by similarity, estimated from sketches (default)" }, \
	{ .type = PD_OPT_CHOICE, .name = "scope", .arg = "NAME", AT(scope), .choices = pd_match_scope_names, \
	  .help = "all (default), same-host or other-hosts" }, \
	{ .type = PD_OPT_FLAG, .name = "all-pairs", .rare = true, AT(all_pairs), \
	  .help = "every pair, not only links to the first of equal pages" }, \
	{ .type = PD_OPT_CHOICE, .name = "plan", .rare = true, .arg = "NAME", AT(plan), .choices = pd_join_plan_names, \
	  .help = "auto, paper (k up to 3), blocks, all; same pairs" }, \
	{ .type = PD_OPT_FLAG, .name = "explain", .same_result = true, AT(explain), .help = "print what each plan would cost, and what the one used did" }

struct pd_match_command pd_match_defaults(void);

/* Do the options of the second look go together?  Asked before hours are spent. */
int pd_match_check(const struct pd_match_command *o, struct pd_err *e);
/* Finds the pairs and returns the exit code. */
int pd_match_run(const struct pd_match_command *o, char **paths, int n_paths, struct pd_log *log);

#endif
