/* SPDX-License-Identifier: MIT
 *
 * Learning the lines that sites repeat.  Records of pages (site.h), in any order, and tables to merge or to copy -> a
 * table (boilerplate.h).
 *
 * The sample of a host consists of the PD_SITE_SAMPLE pages whose URLs have the smallest keys, independent of their
 * order.  Of several captures of a URL, the smallest record is used.  So the table depends only on the set of pages:
 * learning from two dumps gives the same table as merging the tables of both.
 *
 * Memory is bounded for any dump.  Records are collected in a buffer of `memory` bytes.  A full buffer is sorted, cut
 * to the samples and spooled as a run.  At the end all runs are merged host by host, with a window for each.
 */
#ifndef PD_TOPIC_LEARNER_H
#define PD_TOPIC_LEARNER_H

#include <stdio.h>

#include "topic/boilerplate.h"

#define PD_SITE_PATH_PAGES 6 /* a path on at least this many pages may be chrome as a whole */
#define PD_SITE_BOUNDS 16384 /* number of hosts for which the learner filters pages: 4.6 MB, and their names */

struct pd_site_learn_options {
	const char *tmp_dir;	      /* NULL: TMPDIR, /tmp */
	size_t memory;		      /* 0: 64 MiB */
	bool hidden_kept;	      /* recorded in the table */
	bool samples;		      /* write samples into the table */
	struct pd_boilerplate *known; /* its hosts are copied, and their pages ignored; NULL: none */
};

struct pd_site_learner;

struct pd_site_learner *pd_site_learner_new(const struct pd_site_learn_options *o);
void pd_site_learner_free(struct pd_site_learner *l);
/* Return whether a record of the page with this URL is needed.  It is not needed if it cannot be in its host's sample,
 * given the records so far, or if nothing is learned for the host, because the host is known or missing.  May be called
 * from any thread, also while records are added; `name` is scratch. */
bool pd_site_learner_wants(struct pd_site_learner *l, struct pd_span url, struct pd_buf *name);
/* Add any number of concatenated records. */
int pd_site_learner_add(struct pd_site_learner *l, struct pd_span records, struct pd_err *e);
/* Add the samples of all hosts of a table. */
int pd_site_learner_merge(struct pd_site_learner *l, struct pd_boilerplate *b, struct pd_err *e);
struct pd_site_learn_counts {
	uint64_t hosts, taught; /* in the table; of these, with repeated lines */
	uint64_t lines, paths;
};

/* Decide, and write the table into `f`.  May be called once.  `counts` may be NULL. */
int pd_site_learner_end(struct pd_site_learner *l, FILE *f, struct pd_site_learn_counts *counts, struct pd_err *e);

#endif
