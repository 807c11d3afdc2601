/* SPDX-License-Identifier: MIT
 *
 * What eval found, as a table for people, as rows, or as JSON Lines (docs/eval.md).
 */
#ifndef PD_WRITE_EVAL_ROW_H
#define PD_WRITE_EVAL_ROW_H

#include "base/json.h"
#include "group/score.h"

enum pd_eval_format { PD_EVAL_TEXT, PD_EVAL_TSV, PD_EVAL_JSONL };
extern const char *const pd_eval_formats[], *const pd_eval_columns[];	/* NULL at the end */

void pd_eval_print(const struct pd_score *s, enum pd_eval_format format, int draws, uint64_t seed, struct pd_buf *out);

#endif
