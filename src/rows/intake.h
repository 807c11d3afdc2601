/* SPDX-License-Identifier: MIT
 *
 * fp rows and key files, as text or binary, in any order -> rows in memory (rows.h).
 */
#ifndef PD_ROWS_INTAKE_H
#define PD_ROWS_INTAKE_H

#include "rows/rows.h"

struct pd_rows_options {
	char **paths;
	int n_paths;
	char **against;			/* these rows are side B, those of `paths` side A */
	int n_against;
	const char *tmp_dir;
	struct pd_budget *budget;	/* lives as long as the rows; NULL: none */
	bool hosts;
	void (*bad_row)(void *ctx, const char *why);
	void *ctx;
};

/* PD_ERR_PARAMS when rows were made with different parameters: the message says which.  PD_ERR_INPUT when one id stands for two
 * pages. */
int pd_rows_read(struct pd_rows *rows, const struct pd_rows_options *o, struct pd_err *e);

#endif
