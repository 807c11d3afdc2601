/* SPDX-License-Identifier: MIT
 *
 * What a sweep found: a row for each setting and each k (docs/eval.md), or a table of F1 for people.
 */
#ifndef PD_WRITE_SWEEP_ROW_H
#define PD_WRITE_SWEEP_ROW_H

#include "group/sweep.h"
#include "sign/sign.h"
#include "write/eval_row.h"

/* The columns of the rows, NULL at the end. */
extern const char *const pd_sweep_columns[];
/* `sign[i]`: what setting i is. */
void pd_sweep_print(const struct pd_sweep *s, const struct pd_sign_options *sign, enum pd_eval_format format, struct pd_buf *out);

#endif
