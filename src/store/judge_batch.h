/* SPDX-License-Identifier: MIT
 *
 * Between the two files of judge.h.
 */
#ifndef PD_STORE_JUDGE_BATCH_H
#define PD_STORE_JUDGE_BATCH_H

#include "store/judge.h"

/* Fills j->answer for page i of the batch, and keeps the page or not. */
int pd_judge_page(struct pd_judge *j, const struct pd_store_page *page, size_t i, struct pd_err *e);
/* What lies in the log near the page, in s->near. */
void pd_judge_recent(struct pd_judge *j, const struct pd_store_page *page);

#endif
