/* SPDX-License-Identifier: MIT
 *
 * Two texts -> HTML of each with what the other does not have marked, word by word.  Bounded: a text is looked at up to
 * some thousand words, long stretches that both share are left out, and what was left out is said.
 */
#ifndef PD_REPORT_TEXTS_H
#define PD_REPORT_TEXTS_H

#include "base/buf.h"

/* `a` goes into <del>, `b` into <ins>; either buffer is added to. */
void pd_report_texts(struct pd_span a, struct pd_span b, struct pd_buf *html_a, struct pd_buf *html_b);

#endif
