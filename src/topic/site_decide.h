/* SPDX-License-Identifier: MIT
 *
 * Which lines does a host repeat?  In: the sample of its pages (site.h).  Out: keys of lines and of paths.
 *
 * Not on how many pages a line recurs decides, but under how many texts: a page that the host holds three times has the
 * same lines three times, and they are its text.  Two pages are of different texts when their signatures differ in more
 * than PD_SITE_BITS bits: those of the text outside links, and, unless the line stands on more than half of the sample,
 * those of the main texts too (where chrome outweighs a short text, copies look different by the first alone; where the
 * extractor fails on a layout, its pages look the same by the second alone).  A line that stands under PD_SITE_TEXTS texts,
 * each different from each, is repeated.  So is one that stands on more than half of the sample under PD_SITE_TITLES titles:
 * of pages that hold little but what their site repeats, such as those of a reference, all texts look the same.  Texts are taken in the order of their signatures.
 *
 * Then a vote by path: one that stands on PD_SITE_PATH_PAGES pages or more, of whose lines at least half are repeated or mostly
 * links, and at least one is repeated, is chrome as a whole, also where its words change from page to page.  It takes whole
 * texts along where it is wrong, so it asks for more pages than a line does: three threads of a forum with the same stock
 * replies are no layout yet.
 *
 * The result depends on the set of pages alone.
 */
#ifndef PD_TOPIC_SITE_DECIDE_H
#define PD_TOPIC_SITE_DECIDE_H

#include "topic/site.h"

#define PD_SITE_TEXTS 3
#define PD_SITE_PATH_PAGES 6
#define PD_SITE_BITS 16
#define PD_SITE_TITLES 6

struct pd_site_judge;

struct pd_site_judge *pd_site_judge_new(void);
void pd_site_judge_free(struct pd_site_judge *j);
/* What `pages`, all of one host, repeat; it lies in the judge, until the next call. */
struct pd_site pd_site_decide(struct pd_site_judge *j, const struct pd_site_page *pages, size_t n);

#endif
