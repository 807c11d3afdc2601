/* SPDX-License-Identifier: MIT
 *
 * answers rows (docs/format-rows.md): what a store says of a page -> a line, and one more for each page that it replaced.
 */
#ifndef PD_WRITE_ANSWER_ROW_H
#define PD_WRITE_ANSWER_ROW_H

#include "base/json.h"
#include "store/judge.h"

void pd_write_answers_header(const struct pd_store *s, const struct pd_store_judge_options *o, struct pd_buf *out);
/* j: NULL for a table, else the lines are JSON. */
void pd_write_answers(const struct pd_store_answer *a, struct pd_json *j, struct pd_buf *out);

extern const char *const pd_store_on_duplicate_names[], *const pd_store_same_url_names[];	/* NULL at the end */

#endif
