/* SPDX-License-Identifier: MIT
 *
 * Rows in the order they came -> rows in the order of their ids, each id once.  Costs one comparison a row when they came
 * in order, as `fp` writes them.
 */
#ifndef PD_ROWS_ORDER_H
#define PD_ROWS_ORDER_H

#include "rows/rows.h"

int pd_rows_order(struct pd_rows *rows, struct pd_err *e);

#endif
