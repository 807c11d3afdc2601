/* SPDX-License-Identifier: MIT
 *
 * The work of `apply`: verdicts and inputs -> the inputs without the pages that the verdicts name, and side outputs;
 * or, with `restore`, the original inputs.  Warnings, the closing line and --stats are part of it.
 */
#ifndef PD_APPLY_RUN_H
#define PD_APPLY_RUN_H

#include "base/terminal.h"
#include "run/walk.h"

struct pd_apply_run_options {
	struct pd_walk_options walk;   /* first: rows of options are shared */
	const char *verdicts;	       /* a file; "-": standard input */
	const char *rows;	       /* rows of fp, with which the files to delete are compared */
	const char *attributes, *cdxj; /* side outputs (apply/side_outputs.h); NULL: none */
	const char *originals;	       /* the folder that `restore` searches */
	const char *tmp_dir;
	bool keep_others, remove_suspects, rewrite_revisits, restore, link; /* as in pd_apply_options */
	bool list, remove; /* pages that are files: their paths are printed, or they are deleted */
	bool unchecked;	   /* as in pd_apply_options */
};

/* 0; 1: done, but something was left out, and the options do not permit that; or a negative status with a message. */
int pd_apply_run(const struct pd_apply_run_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_err *e);

#endif
