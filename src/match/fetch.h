/* SPDX-License-Identifier: MIT
 *
 * For rows whose texts stayed in their files (match/late.h), and a set of rows in pairs -> the texts of these.
 */
#ifndef PD_MATCH_FETCH_H
#define PD_MATCH_FETCH_H

#include "match/rows.h"

/* With rows->late: a bit for each row, initially 0; the caller sets those of the needed rows, and their texts are
 * fetched. Fails if a file was changed in the meantime, or a key file contains an invalid row. */
uint64_t *pd_rows_wanted(struct pd_rows *rows);
int pd_rows_fetch(struct pd_rows *rows, int threads, struct pd_err *e);

#endif
