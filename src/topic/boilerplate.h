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
#include "topic/site.h"

#define PD_BOILERPLATE_VERSION 1
#define PD_SITE_SAMPLE 32		/* pages of a host that decide */

struct pd_boilerplate;

int pd_boilerplate_open(const char *path, struct pd_boilerplate **out, struct pd_err *e);
/* The same of a file that can be sought in, which becomes the table's; `name` is for messages. */
int pd_boilerplate_read(FILE *f, const char *name, struct pd_boilerplate **out, struct pd_err *e);
void pd_boilerplate_free(struct pd_boilerplate *b);

/* 16 hex digits: the name under which fingerprints record the table. */
const char *pd_boilerplate_checksum(const struct pd_boilerplate *b);
/* Were hidden elements left out when it was learned?  It must be used in the same way. */
bool pd_boilerplate_hidden_kept(const struct pd_boilerplate *b);
bool pd_boilerplate_has_samples(const struct pd_boilerplate *b);

/* What a host repeats: nothing, when it is not known.  Borrowed. */
struct pd_site pd_boilerplate_site(const struct pd_boilerplate *b, struct pd_span host);

/* Host by host, in the order of their keys. */
struct pd_boilerplate_host {
	uint64_t key;
	struct pd_span name;
	unsigned pages;		/* of the sample */
	struct pd_site site;
};

size_t pd_boilerplate_hosts(const struct pd_boilerplate *b);
struct pd_boilerplate_host pd_boilerplate_host(const struct pd_boilerplate *b, size_t i);
bool pd_boilerplate_knows(const struct pd_boilerplate *b, uint64_t key);
/* The records of host i's sample (site.h), checked; replaces what `out` held. */
int pd_boilerplate_sample(struct pd_boilerplate *b, size_t i, struct pd_buf *out, struct pd_err *e);

/* Writing: hosts in the order of their keys, each once; what they hold is spooled, and the file put together at the end. */
struct pd_boilerplate_writer;

int pd_boilerplate_writer_new(struct pd_boilerplate_writer **out, const char *tmp_dir, bool hidden_kept, bool samples,
			      struct pd_err *e);
void pd_boilerplate_writer_free(struct pd_boilerplate_writer *w);
/* A failure to write shows in `end`. */
void pd_boilerplate_writer_add(struct pd_boilerplate_writer *w, const struct pd_boilerplate_host *h, struct pd_span records);
/* Into `f`, which need not be a file that can be sought in. */
int pd_boilerplate_writer_end(struct pd_boilerplate_writer *w, FILE *f, struct pd_err *e);

#endif
