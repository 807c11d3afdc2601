/* SPDX-License-Identifier: MIT
 *
 * What `store` writes.  Answers (docs/format-rows.md): what a store says of a page -> a line, and one more for each page
 * that it replaced.  What is known of a store itself: a line each.  `out` is appended to; j: NULL for a table, else JSON.
 */
#ifndef PD_WRITE_STORE_ROWS_H
#define PD_WRITE_STORE_ROWS_H

#include "base/json.h"
#include "store/judge.h"

void pd_write_answers_header(const struct pd_store *s, const struct pd_store_judge_options *o, struct pd_buf *out);
void pd_write_answers(const struct pd_store_answer *a, struct pd_json *j, struct pd_buf *out);

void pd_write_store_info(const struct pd_store *s, const struct pd_store_size *size, struct pd_json *j, struct pd_buf *out);
/* The header of fp rows that come out of the store. */
void pd_write_store_header(const struct pd_store *s, struct pd_buf *out);

extern const char *const pd_store_on_duplicate_names[], *const pd_store_same_url_names[];	/* NULL at the end */

#endif
