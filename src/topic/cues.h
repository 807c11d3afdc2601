/* SPDX-License-Identifier: MIT
 *
 * What a page says of its parts in so many words.  In: an element, a line, a paragraph.  Out:
 *
 * - what an element says of itself by tag, role, class and id (hints.def);
 * - whether a line announces other things than the main text ("Related articles", "Leave a reply", 责任编辑), or only when
 *   and by whom it was written (heads.def);
 * - whether a text is a legal line: a licence, a copyright, a request to accept cookies, a disclaimer (notices.def).  Legal
 *   lines are sentences, and on a page with little text the longest ones, but no page was written for them: they are no prose.
 *
 * None of them is the last word: extract.c weighs it against the text that is at stake.
 */
#ifndef PD_TOPIC_CUES_H
#define PD_TOPIC_CUES_H

#include "page/blocks.h"

enum pd_hint {
	PD_HINT_NONE,
	PD_HINT_GOOD,		/* marked as the main text: article, main, articleBody */
	PD_HINT_WEAK,		/* chrome where it is short or made of links */
	PD_HINT_COMMENT,	/* what readers wrote */
	PD_HINT_FORUM,		/* a thread, a post of it, a question: what readers wrote is its text */
	PD_HINT_MARGIN,		/* beside the text: a column of its own, or a note in the midst of it */
	PD_HINT_ADVERT,		/* adverts, newsletters: a few lines by nature */
	PD_HINT_CHROME,		/* navigation, lists of other pages, forms, … */
	PD_HINT_FOOT,		/* the foot of a page: with a copyright line in it, it is no text however long it is */
	PD_HINT_NOTICE,		/* asks for consent: however long it is, another text is the page's */
	PD_HINT_CONTROL,	/* a button, what a form offers to choose from: no text in any reading, unless it holds paragraphs */
	PD_HINT_NEVER,		/* no main text in any reading: the title */
};

enum pd_head {
	PD_HEAD_NONE,
	PD_HEAD_LINE,		/* the line is no main text */
	PD_HEAD_SECTION,	/* nor is what follows in its region */
};

/* A head is a line of at most this many bytes. */
#define PD_HEAD_MAX 80

struct pd_cues;			/* the compiled tables: read only once made; free() releases them */

struct pd_cues *pd_cues_new(void);
/* *name becomes the word or tag that decided: a constant. */
enum pd_hint pd_hint_of(const struct pd_cues *c, const struct pd_box *box, const char **name);
/* *name becomes the phrase that fitted: a constant. */
enum pd_head pd_head_of(const struct pd_cues *c, struct pd_span line, const char **name);
/* Looks at the beginning of the text; one that goes on far beyond it is about something else.  `sentences`: it reads like
 * sentences, in which a notice may say so further on; other text is one only where it begins like one. */
bool pd_is_notice(const struct pd_cues *c, struct pd_span text, bool sentences);

#endif
