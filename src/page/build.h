/* SPDX-License-Identifier: MIT
 *
 * Events (html.h) -> runs, boxes, blocks and links of a struct pd_blocks, in one pass.
 */
#ifndef PD_PAGE_BUILD_H
#define PD_PAGE_BUILD_H

#include "page/blocks.h"
#include "page/html.h"

struct pd_builder;	/* one per thread */

/* A block has over so many code points of text, or level tags. */
struct pd_builder *pd_builder_new(int min_chars, int min_levels);
void pd_builder_free(struct pd_builder *b);

void pd_build_start(struct pd_builder *b, struct pd_blocks *out);
/* `markup`: how much XHTML is written before this start tag, behind this end tag. */
void pd_build_open(struct pd_builder *b, enum pd_tag t, const struct pd_attr *attrs, size_t n, size_t markup);
void pd_build_close(struct pd_builder *b, enum pd_tag t, size_t markup);
void pd_build_text(struct pd_builder *b, struct pd_span s);
void pd_build_end(struct pd_builder *b);

#endif
