/* SPDX-License-Identifier: MIT
 *
 * Records of pages (site_page.h) sorted within bounded memory: what comes in any order comes out by host and URL, each URL
 * once, and of each host no more than its sample.
 */
#ifndef PD_TOPIC_SITE_RUNS_H
#define PD_TOPIC_SITE_RUNS_H

#include "base/err.h"
#include "topic/site_page.h"

struct pd_site_runs;

/* `memory`: bytes of records that are held at once. */
struct pd_site_runs *pd_site_runs_new(const char *tmp_dir, size_t memory);
void pd_site_runs_free(struct pd_site_runs *r);
/* One record. */
int pd_site_runs_add(struct pd_site_runs *r, const struct pd_site_page *p, const char *bytes, struct pd_err *e);
/* No more are added; from here on `next` gives them. */
int pd_site_runs_close(struct pd_site_runs *r, struct pd_err *e);
/* The sample of the next host, its records one behind the other, which `out` is made to hold.  1, 0 at the end, negative. */
int pd_site_runs_next(struct pd_site_runs *r, struct pd_buf *out, struct pd_err *e);

#endif
