/* SPDX-License-Identifier: MIT
 *
 * Rows in the order of their files -> rows in the order of their ids.
 */
#ifndef PD_MATCH_ORDER_H
#define PD_MATCH_ORDER_H

#include "match/rows.h"

/* Reorder the rows by id, each id once; `repeated` counts the others.  PD_ERR_INPUT if one id is that of two pages. */
int pd_rows_order(struct pd_rows *rows, struct pd_err *e);

#endif
