/* SPDX-License-Identifier: MIT
 *
 * What becomes of a page, and why: in words for people, or as JSON Lines, a line for each step to the page kept.
 */
#ifndef PD_INSPECT_WHY_H
#define PD_INSPECT_WHY_H

#include "base/json.h"
#include "group/why.h"

/* `verdicts`: the name of the file, for words. */
void pd_why_text(const struct pd_why *w, const char *verdicts, bool has_pairs, struct pd_buf *out);
void pd_why_json(const struct pd_why *w, struct pd_json *j, struct pd_buf *out);

#endif
