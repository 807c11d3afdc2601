/* SPDX-License-Identifier: MIT
 *
 * Is a piece of text a legal line: a licence, a copyright, a request to accept cookies?  Such lines are sentences, and on
 * a page with little text the longest ones, but no page was written for them: they are no prose (lines.c).
 */
#ifndef PD_TOPIC_NOTICES_H
#define PD_TOPIC_NOTICES_H

#include "base/span.h"

struct pd_notices;		/* the compiled table: read only once made */

struct pd_notices *pd_notices_new(void);
void pd_notices_free(struct pd_notices *n);
/* Looks at the beginning of the text; one that goes on far beyond it is about something else.  `sentences`: it reads like
 * sentences, in which a notice may say so further on; other text is one only where it begins like one. */
bool pd_is_notice(const struct pd_notices *n, struct pd_span text, bool sentences);

#endif
