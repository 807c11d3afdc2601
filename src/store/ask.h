/* SPDX-License-Identifier: MIT
 *
 * fp rows in, an answer for each out, batch by batch: what `store add` and `store check` do.  Rows are held against the
 * parameters of the store, which takes those of the first; rows that cannot be read are told and left out.
 */
#ifndef PD_STORE_ASK_H
#define PD_STORE_ASK_H

#include "store/judge.h"

struct pd_store_ask {
	struct pd_store *s;			/* open; to be written if o.keep */
	struct pd_store_judge_options o;
	char *const *paths;			/* of the rows; none: standard input */
	int n_paths;
	bool at_once;				/* each row is a batch of its own */
	/* Of each row in their order; then, when what a batch changed is durable, `batch`, also once when there are no rows.
	 * 0, or a status that ends it. */
	pd_store_answer_fn *answer;
	int (*batch)(void *ctx);
	void (*bad_row)(void *ctx, const char *path, const char *what);
	void *ctx;
	/* out */
	uint64_t counts[PD_STORE_REPLACED + 1];	/* rows by status; pages that were replaced */
	uint64_t bad;				/* rows left out */
	struct pd_buf totals;			/* lines of the inputs: what a header's "# total" says */
};

/* Tidying up at the end (pd_store_tend) is left to the caller. */
int pd_store_ask(struct pd_store_ask *q, struct pd_err *e);
void pd_store_ask_release(struct pd_store_ask *q);

#endif
