/* SPDX-License-Identifier: MIT
 *
 * What eval and sweep found, as a table for people, as rows, or as JSON Lines (docs/eval.md).
 */
#ifndef PD_WRITE_EVAL_ROWS_H
#define PD_WRITE_EVAL_ROWS_H

#include "base/json.h"
#include "group/score.h"
#include "group/sweep.h"
#include "sign/sign.h"

enum pd_write_eval_format { PD_EVAL_TEXT, PD_EVAL_TSV, PD_EVAL_JSONL };
extern const char *const pd_write_eval_formats[], *const pd_write_eval_columns[];	/* NULL at the end */

void pd_write_eval(const struct pd_score *s, enum pd_write_eval_format format, int draws, uint64_t seed, struct pd_buf *out);

/* A row for each setting and each k; the table shows F1.  `sign[i]`: what setting i is. */
extern const char *const pd_write_sweep_columns[];	/* NULL at the end */
void pd_write_sweep(const struct pd_sweep *s, const struct pd_sign_options *sign, enum pd_write_eval_format format, struct pd_buf *out);

#endif
