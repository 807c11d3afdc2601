/* SPDX-License-Identifier: MIT
 *
 * Pages that stand in for another page: redirects, error pages sent with status 200, walls (sign in, prove that you are no
 * robot), shells of applications without a text.  In: a page and its main text.  Out: which of them it is.
 *
 * All of one kind and site look alike and none is a copy of another's text, so they are flagged, and not matched.  A page is
 * one of them only where hardly any text is left beside it: an article about the error 404 is an article.  What they say is a
 * table in many languages (stubs.def).
 */
#ifndef PD_TOPIC_STUBS_H
#define PD_TOPIC_STUBS_H

#include "topic/topic.h"

enum pd_stub { PD_STUB_NONE, PD_STUB_REDIRECT, PD_STUB_ERROR, PD_STUB_WALL, PD_STUB_EMPTY, PD_STUBS };

struct pd_stub_finder;	/* scratch for one thread */

struct pd_stub_finder *pd_stub_finder_new(void);
void pd_stub_finder_free(struct pd_stub_finder *f);
enum pd_stub pd_stub_find(struct pd_stub_finder *f, const struct pd_blocks *in, const struct pd_topic *topic);

/* As rows flag it: "redirect", "error-page", "access-wall", "no-text"; "" for PD_STUB_NONE. */
const char *pd_stub_name(enum pd_stub s);

#endif
