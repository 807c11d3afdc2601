/* SPDX-License-Identifier: MIT
 *
 * M2 and M3 (modules 120 and 210): UTF-8 HTML, or plain text -> struct pd_blocks, in one pass: a page goes in, its events
 * (html.h) go to whoever needs them: the builder of boxes and runs, the metadata, the writer of XHTML.
 */
#ifndef PD_PAGE_PARSE_H
#define PD_PAGE_PARSE_H

#include "page/blocks.h"

struct pd_html_options {
	int min_chars;		/* a block's text is over this: 100 */
	int min_levels;		/* or its level tags are over this: 5 */
	bool drop_hidden;	/* what the page itself does not show (hidden, style=display:none) is no text of it */
	bool keep_xhtml;	/* also write the tree as XHTML (M2, `show --stage=html`) */
	bool all_links;		/* links that are not shown, frames and image maps too, with what is said of them; the text stays the same */
};

#define PD_HTML_DEFAULTS { .min_chars = 100, .min_levels = 5, .drop_hidden = true }

struct pd_html;		/* the parser with its stacks: one per thread */

struct pd_html *pd_html_new(const struct pd_html_options *o);
void pd_html_free(struct pd_html *h);
/* Always succeeds (0).  `plain_text`: no HTML; paragraphs become div boxes and lines p boxes, so that M3 applies. */
int pd_html_parse(struct pd_html *h, struct pd_span utf8, bool plain_text, struct pd_blocks *out);

#endif
