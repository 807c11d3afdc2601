/* SPDX-License-Identifier: MIT
 *
 * What a short line says of itself or of what follows it: "Related articles", "Leave a reply", 责任编辑 (heads.def).
 */
#ifndef PD_TOPIC_HEADS_H
#define PD_TOPIC_HEADS_H

#include "base/span.h"

enum pd_head {
	PD_HEAD_NONE,
	PD_HEAD_LINE,		/* the line is no main text */
	PD_HEAD_SECTION,	/* nor is what follows in its region */
};

/* A head is a line of at most this many bytes. */
#define PD_HEAD_MAX 80

struct pd_heads;		/* the compiled table */

struct pd_heads *pd_heads_new(void);
void pd_heads_free(struct pd_heads *h);
/* *name becomes the phrase that fitted: a constant. */
enum pd_head pd_head_of(const struct pd_heads *h, struct pd_span line, const char **name);

#endif
