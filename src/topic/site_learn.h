/* SPDX-License-Identifier: MIT
 *
 * Learning what sites repeat.  In: records of pages (site.h), in any order, and tables to merge or to leave as they
 * are.  Out: a table (boilerplate.h).
 *
 * Of each host the PD_SITE_SAMPLE pages whose URLs have the smallest keys are its sample, whatever the order in which
 * they come; of several captures of one URL the one with the smallest record.  So the table depends on the set of pages
 * alone, and a table learned from two dumps is that of their tables merged.
 *
 * Memory is bounded whatever the dump: records gather in a buffer of `memory` bytes; when it is full it is sorted, cut to
 * the samples and spooled as a run.  At the end all runs are merged host by host, with a window of each.
 */
#ifndef PD_TOPIC_SITE_LEARN_H
#define PD_TOPIC_SITE_LEARN_H

#include "topic/boilerplate.h"
#include "topic/site.h"

struct pd_site_learn_options {
	const char *tmp_dir;	/* NULL: TMPDIR, /tmp */
	size_t memory;		/* 0: 64 MiB */
	bool hidden_kept;	/* recorded in the table */
	bool samples;		/* write them into the table */
	struct pd_boilerplate *known;	/* its hosts are copied as they are, pages of theirs left out; NULL: none */
};

struct pd_site_learner;

struct pd_site_learner *pd_site_learner_new(const struct pd_site_learn_options *o);
void pd_site_learner_free(struct pd_site_learner *l);
/* Any number of records, one behind the other. */
int pd_site_learner_add(struct pd_site_learner *l, struct pd_span records, struct pd_err *e);
/* The sample of every host of a table. */
int pd_site_learner_merge(struct pd_site_learner *l, struct pd_boilerplate *b, struct pd_err *e);
/* Decides, and writes the table into `f`.  Once. */
int pd_site_learner_end(struct pd_site_learner *l, FILE *f, struct pd_err *e);

struct pd_site_learn_counts {
	uint64_t pages;			/* records given, without those of hosts that were known */
	uint64_t hosts, taught;		/* in the table; of them, with anything repeated */
	uint64_t lines, paths;
};

const struct pd_site_learn_counts *pd_site_learner_counts(const struct pd_site_learner *l);

#endif
