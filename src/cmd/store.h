/* SPDX-License-Identifier: MIT
 *
 * What the actions of `pagededup store` share: one table of options, each with the actions that take it.
 *
 * Adding an action: a function here, a row in the table of store.c, a paragraph in docs/man/pagededup-store.1.
 */
#ifndef PD_CMD_STORE_H
#define PD_CMD_STORE_H

#include "cmd/command.h"
#include "store/judge.h"

struct pd_store_options {
	int preset, bits, k, on_duplicate, same_url, format;
	struct pd_verify_request second_look;
	bool line_buffered, quiet, ignore_damaged, by_url;
};

struct pd_store_run {
	const struct pd_store_options *o;
	struct pd_log *log;
	const char *dir;
	char **operands;		/* behind DIR */
	int n_operands;
	struct pd_store store;
	double started;
	uint64_t bad;			/* what was left out, named */
	struct pd_err err;
};

/* Each opens what it needs; 0 or a status with its message in err. */
int pd_store_run_init(struct pd_store_run *r);
int pd_store_run_add(struct pd_store_run *r);
int pd_store_run_check(struct pd_store_run *r);
int pd_store_run_remove(struct pd_store_run *r);
int pd_store_run_compact(struct pd_store_run *r);
int pd_store_run_verify(struct pd_store_run *r);
int pd_store_run_info(struct pd_store_run *r);
int pd_store_run_export(struct pd_store_run *r);

/* Something is damaged and was left out: said, and counted. */
void pd_store_run_damaged(void *run, const char *what);

#endif
