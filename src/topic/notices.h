/* SPDX-License-Identifier: MIT
 *
 * Is a piece of text a legal line: a licence, a copyright, a request to accept cookies?  Such lines are sentences, and on
 * a page with little text the longest ones, but no page was written for them: they are no prose (lines.c).
 */
#ifndef PD_TOPIC_NOTICES_H
#define PD_TOPIC_NOTICES_H

#include "base/span.h"

/* Looks at the beginning of the text; one that goes on far beyond it is about something else. */
bool pd_is_notice(struct pd_span text);

#endif
