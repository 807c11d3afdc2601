/* SPDX-License-Identifier: MIT
 *
 * Foreign text in HTML that we write: nothing of it becomes markup, and nothing of it is invisible.  Characters that turn
 * the direction of text or take no room are shown by their number, as are control characters; bytes that are not UTF-8
 * become U+FFFD.
 */
#ifndef PD_REPORT_MARKUP_H
#define PD_REPORT_MARKUP_H

#include "base/buf.h"

/* As text of an element; marks become <span class="mark">U+202E</span>. */
void pd_markup_text(struct pd_buf *out, struct pd_span s);
/* As the value of an attribute in double quotes: the same bytes come back from the DOM. */
void pd_markup_attribute(struct pd_buf *out, struct pd_span s);

/* Two texts -> HTML of each with what the other does not have marked, word by word.  Bounded: a text is looked at up to
 * some thousand words, long stretches that both share are left out, and what was left out is said. */

/* `a` goes into <del>, `b` into <ins>; either buffer is added to. */
void pd_report_texts(struct pd_span a, struct pd_span b, struct pd_buf *html_a, struct pd_buf *html_b);

#endif
