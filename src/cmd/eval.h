/* SPDX-License-Identifier: MIT
 *
 * What the two halves of eval share: holding pairs or clusters against a truth (eval.c), and trying many settings on the
 * same pages (sweep.c).
 */
#ifndef PD_CMD_EVAL_H
#define PD_CMD_EVAL_H

#include "cmd/walk.h"
#include "group/score.h"
#include "write/eval_row.h"

struct pd_eval_options {
	struct pd_walk_options walk;	/* first: the options of pages are parsed into it */
	struct pd_truth_options truth;
	const char *pairs, *clusters;
	int bootstrap, seed, eval_format;
	/* sweep */
	bool sweep;
	int max_k, verify;
	int shingle[16], n_shingle, weights[3], n_weights, bits[3], n_bits;
};

#define PD_EVAL_AT(member) .at = offsetof(struct pd_eval_options, member)

int pd_sweep_shingle(void *options, const char *arg, struct pd_err *e);
int pd_sweep_weights(void *options, const char *arg, struct pd_err *e);
int pd_sweep_bits(void *options, const char *arg, struct pd_err *e);
/* Signs the pages of `dumps` that the truth names with every setting, and prints how each does at every k; *damaged grows by
 * the records that were left out. */
int pd_sweep_run(struct pd_eval_options *o, const struct pd_truth *t, char **dumps, int n_dumps, uint64_t *damaged,
		 struct pd_log *log, struct pd_err *e);

#endif
