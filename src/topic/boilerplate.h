/* SPDX-License-Identifier: MIT
 *
 * The table of lines that sites repeat (docs/format-boilerplate.md).  For each host it has the keys of repeated lines
 * and paths, and the sample of pages from which they were learned, so that tables can be merged.  A file -> the
 * repeated lines of a host.  Keys are in memory; samples are read from the file on demand.
 *
 * A table is checked before it is used: magic, version, length, checksum, the position of every section, and the order of
 * keys.
 */
#ifndef PD_TOPIC_BOILERPLATE_H
#define PD_TOPIC_BOILERPLATE_H

#include <stdio.h>

#include "base/err.h"
#include "topic/site.h"

#define PD_BOILERPLATE_VERSION 1
#define PD_SITE_SAMPLE 32 /* pages of a host that are examined */
#define PD_SITE_TEXTS 3	  /* a line is repeated if it occurs with this many different texts */
#define PD_SITE_BITS 16	  /* texts are different if their signatures differ in more bits */

struct pd_boilerplate;

int pd_boilerplate_open(const char *path, struct pd_boilerplate **out, struct pd_err *e);
/* Read a table from a seekable file, which the table takes over; `name` is for messages. */
int pd_boilerplate_read(FILE *f, const char *name, struct pd_boilerplate **out, struct pd_err *e);
void pd_boilerplate_free(struct pd_boilerplate *b);

struct pd_boilerplate_info {
	size_t hosts;
	char checksum[17]; /* 16 hex digits, which fingerprints record */
	bool hidden_kept;  /* hidden elements were text when it was learned; it must be used in the same way */
	bool has_samples;
};

const struct pd_boilerplate_info *pd_boilerplate_info(const struct pd_boilerplate *b);

/* Return the repeated lines of a host; empty if the host is not known.  Owned by the table. */
struct pd_site pd_boilerplate_site(const struct pd_boilerplate *b, struct pd_span host);
/* Return whether the table has an entry for this host, which may be empty. */
bool pd_boilerplate_has(const struct pd_boilerplate *b, struct pd_site_host host);

/* Access by host, in the order of their keys and names.  Forged names may have equal keys. */
struct pd_boilerplate_host {
	struct pd_site_host host;
	unsigned pages; /* pages in the sample */
	struct pd_site site;
};

struct pd_boilerplate_host pd_boilerplate_host(const struct pd_boilerplate *b, size_t i);
/* Read the records of host i's sample (site.h), checked, into `out`; its content is replaced. */
int pd_boilerplate_sample(struct pd_boilerplate *b, size_t i, struct pd_buf *out, struct pd_err *e);

/* Writer of a table.  Hosts are added in the order of their keys, each once.  Their data is spooled, and the file is
 * assembled at the end. */
struct pd_boilerplate_writer;

int pd_boilerplate_writer_new(struct pd_boilerplate_writer **out, const char *tmp_dir, bool hidden_kept, bool samples,
			      struct pd_err *e);
void pd_boilerplate_writer_free(struct pd_boilerplate_writer *w);
/* Add a host and the records of its sample.  Write errors are reported at the end. */
void pd_boilerplate_writer_add(struct pd_boilerplate_writer *w, const struct pd_boilerplate_host *h, struct pd_span records);
/* Write the table into `f`, which need not be seekable. */
int pd_boilerplate_writer_end(struct pd_boilerplate_writer *w, FILE *f, struct pd_err *e);

/* Layout of the table in its file (docs/format-boilerplate.md).  It is used in place: little-endian, numbers aligned to
 * their size. */
#define PD_BOILERPLATE_MAGIC "\x89PDBOIL\n"

struct pd_boilerplate_header {
	char magic[8];
	uint64_t checksum[2]; /* XXH3-128 of bytes 24 to samples_at, high half first */
	uint32_t version, zero;
	uint64_t length;	      /* length of the file */
	uint64_t samples_at;	      /* offset of the samples; `length` if there are none */
	uint64_t samples_checksum[2]; /* XXH3-128 of the samples */
	uint64_t hosts, keys, names;  /* entries, keys, bytes of names padded to 8 */
	uint32_t sample, texts, bits; /* parameters: PD_SITE_SAMPLE, PD_SITE_TEXTS, PD_SITE_BITS */
	uint32_t hidden;	      /* 1: hidden elements were text */
	uint64_t zeroes[3];
};

#define PD_BOILERPLATE_UNCHECKED 24 /* bytes before the range of the checksum */

/* Then `hosts` of these, ascending by key and name; then the keys, the names, the samples. */
struct pd_boilerplate_entry {
	uint64_t key;
	uint64_t keys_at;   /* index of its first key: lines, then paths */
	uint64_t name_at;   /* offset in the names */
	uint64_t sample_at; /* offset in the samples */
	uint32_t lines, paths;
	uint32_t sample;      /* bytes of its sample */
	uint16_t name, pages; /* length of the name; number of pages in the sample */
};

_Static_assert(sizeof(struct pd_boilerplate_header) == 128, "no padding");
_Static_assert(sizeof(struct pd_boilerplate_entry) == 48, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are used in place");

#endif
