/* SPDX-License-Identifier: MIT
 *
 * A page on which a person labels pairs: two texts side by side, three answers, a button that saves a table for eval.  One
 * file, nothing is loaded from outside, and everything foreign is escaped (markup.h).  The distance is not shown: who
 * sees it labels the number.
 */
#ifndef PD_REPORT_LABEL_PAGE_H
#define PD_REPORT_LABEL_PAGE_H

#include "base/buf.h"

struct pd_label_text {
	struct pd_span title, url, text;	/* UTF-8 as it is */
};

struct pd_label_pair {
	struct pd_span ids;		/* id_a<TAB>id_b, escaped as rows are */
	struct pd_span rest;		/* what stands behind the label in its row */
	struct pd_label_text a, b;
};

/* `columns`: the lines that the saved table begins with.  `name`: of this sample, under which a browser keeps labels. */
void pd_label_page_begin(struct pd_buf *out, const char *columns, uint64_t name);
void pd_label_page_pair(struct pd_buf *out, const struct pd_label_pair *pair, size_t number);
void pd_label_page_end(struct pd_buf *out);

#endif
