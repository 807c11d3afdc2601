/* SPDX-License-Identifier: MIT
 *
 * M29: a page's record with its main text, one JSON object a line.
 */
#ifndef PD_WRITE_TEXT_ROW_H
#define PD_WRITE_TEXT_ROW_H

#include "base/json.h"
#include "pipeline.h"

/* id, url, title, timestamp, text, keywords, description, anchor_text; null where there is nothing. */
void pd_text_row(struct pd_pipeline *p, struct pd_json *j, struct pd_buf *out);

#endif
