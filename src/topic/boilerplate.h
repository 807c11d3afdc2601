/* SPDX-License-Identifier: MIT
 *
 * The table of what sites repeat (docs/format-boilerplate.md): for each host the keys of the lines and paths that are
 * chrome there, and the sample of pages that this was learned from, so that tables can be merged.  In: a file.  Out: for a
 * host, what it repeats.  The keys lie in memory, the samples stay in the file until somebody asks for them.
 *
 * A table is checked before any of it is believed: magic, version, length, checksum, then that every part lies where it
 * can and that keys ascend.
 */
#ifndef PD_TOPIC_BOILERPLATE_H
#define PD_TOPIC_BOILERPLATE_H

#include <stdio.h>

#include "base/err.h"
#include "topic/topic.h"

#define PD_BOILERPLATE_VERSION 1
#define PD_SITE_SAMPLE 32		/* pages of a host that decide */
#define PD_SITE_TEXTS 3			/* a line that stands under so many different texts is repeated */
#define PD_SITE_BITS 16			/* texts are different whose signatures differ in more bits */
#define PD_SITE_PATH_PAGES 6		/* a path on so many pages may be chrome as a whole */
#define PD_SITE_BOUNDS 16384		/* of so many hosts the learner knows which pages it can do without: 4.5 MB */

struct pd_boilerplate;

int pd_boilerplate_open(const char *path, struct pd_boilerplate **out, struct pd_err *e);
/* The same of a file that can be sought in, which becomes the table's; `name` is for messages. */
int pd_boilerplate_read(FILE *f, const char *name, struct pd_boilerplate **out, struct pd_err *e);
void pd_boilerplate_free(struct pd_boilerplate *b);

struct pd_boilerplate_info {
	size_t hosts;
	char checksum[17];	/* 16 hex digits: the name under which fingerprints record the table */
	bool hidden_kept;	/* were hidden elements text when it was learned?  It must be used in the same way */
	bool has_samples;
};

const struct pd_boilerplate_info *pd_boilerplate_info(const struct pd_boilerplate *b);

/* What a host repeats: nothing, when it is not known.  Borrowed. */
struct pd_site pd_boilerplate_site(const struct pd_boilerplate *b, struct pd_span host);

/* Host by host, in the order of their keys. */
struct pd_boilerplate_host {
	uint64_t key;
	struct pd_span name;
	unsigned pages;		/* of the sample */
	struct pd_site site;
};

struct pd_boilerplate_host pd_boilerplate_host(const struct pd_boilerplate *b, size_t i);
/* The records of host i's sample (site.h), checked; replaces what `out` held. */
int pd_boilerplate_sample(struct pd_boilerplate *b, size_t i, struct pd_buf *out, struct pd_err *e);

/* Learning what sites repeat.  In: records of pages (site.h), in any order, and tables to merge or to leave as they
 * are.  Out: a table (boilerplate.h).
 *
 * Of each host the PD_SITE_SAMPLE pages whose URLs have the smallest keys are its sample, whatever the order in which
 * they come; of several captures of one URL the one with the smallest record.  So the table depends on the set of pages
 * alone, and a table learned from two dumps is that of their tables merged.
 *
 * Memory is bounded whatever the dump: records gather in a buffer of `memory` bytes; when it is full it is sorted, cut to
 * the samples and spooled as a run.  At the end all runs are merged host by host, with a window of each. */

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
/* Is a record wanted of the page with this URL?  Not where it could not be in its host's sample, beside those that were given so far; nor
 * where nothing is learned of the host: it is known, or there is none.  From any thread, also while records are given; `host` is scratch. */
bool pd_site_learner_wants(struct pd_site_learner *l, struct pd_span url, struct pd_buf *host);
/* Any number of records, one after the other. */
int pd_site_learner_add(struct pd_site_learner *l, struct pd_span records, struct pd_err *e);
/* The sample of every host of a table. */
int pd_site_learner_merge(struct pd_site_learner *l, struct pd_boilerplate *b, struct pd_err *e);
struct pd_site_learn_counts {
	uint64_t hosts, taught;		/* in the table; of them, with anything repeated */
	uint64_t lines, paths;
};

/* Decides, and writes the table into `f`.  Once.  `counts` may be NULL. */
int pd_site_learner_end(struct pd_site_learner *l, FILE *f, struct pd_site_learn_counts *counts, struct pd_err *e);

#endif
