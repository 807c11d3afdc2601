/* SPDX-License-Identifier: MIT
 *
 * What an element says of itself: its tag, role, class and id -> one hint.  Names are matched by a table
 * (hints.def) in one pass over their letters; a hint is never the last word, extract.c weighs it against the text
 * that is at stake.
 */
#ifndef PD_TOPIC_HINTS_H
#define PD_TOPIC_HINTS_H

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

struct pd_hinter;		/* the compiled table: read only once made */

struct pd_hinter *pd_hinter_new(void);
void pd_hinter_free(struct pd_hinter *h);
/* *name becomes the word or tag that decided: a constant. */
enum pd_hint pd_hint_of(const struct pd_hinter *h, const struct pd_box *box, const char **name);

#endif
