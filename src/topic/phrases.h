/* SPDX-License-Identifier: MIT
 *
 * What a piece of text says of itself or of what follows it.  In: a line or paragraph.  Out: whether it announces other
 * things than the main text ("Related articles", "Leave a reply", 责任编辑: heads.def), and whether it is a legal line (a
 * licence, a copyright, a request to accept cookies: notices.def).  Legal lines are sentences, and on a page with little
 * text the longest ones, but no page was written for them: they are no prose (lines.c).
 */
#ifndef PD_TOPIC_PHRASES_H
#define PD_TOPIC_PHRASES_H

#include "base/span.h"

enum pd_head {
	PD_HEAD_NONE,
	PD_HEAD_LINE,		/* the line is no main text */
	PD_HEAD_SECTION,	/* nor is what follows in its region */
};

/* A head is a line of at most this many bytes. */
#define PD_HEAD_MAX 80

struct pd_phrases;		/* the compiled tables: read only once made */

struct pd_phrases *pd_phrases_new(void);
void pd_phrases_free(struct pd_phrases *p);
/* *name becomes the phrase that fitted: a constant. */
enum pd_head pd_head_of(const struct pd_phrases *p, struct pd_span line, const char **name);
/* Looks at the beginning of the text; one that goes on far beyond it is about something else.  `sentences`: it reads like
 * sentences, in which a notice may say so further on; other text is one only where it begins like one. */
bool pd_is_notice(const struct pd_phrases *p, struct pd_span text, bool sentences);

#endif
