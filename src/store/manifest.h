/* SPDX-License-Identifier: MIT
 *
 * The manifest: what the store was made with, and the files that it consists of.  Replaced as a whole, by rename: a reader
 * sees the store before a change or after it.
 */
#ifndef PD_STORE_MANIFEST_H
#define PD_STORE_MANIFEST_H

#include "store/io.h"

struct pd_store_manifest_segment {
	uint64_t file;		/* seg-FILE */
	uint64_t rows, bytes;
	uint64_t check;		/* of its footer */
};

struct pd_store_manifest {
	int version;		/* of the text that was read: what is written is PD_STORE_VERSION */
	int bits, k;
	int alone;		/* distance up to which pages count of which one has no sketch: at most k */
	struct pd_buf must;	/* parameters of the fingerprints; empty: not known yet */
	char params[9];		/* their hash; "": not known yet */
	char sketch[24];	/* "64x4x5"; "": none was seen yet */
	uint64_t next;		/* number of the next page */
	uint64_t next_file;
	uint64_t log;		/* log-N */
	uint64_t tombstones;	/* gone-N; 0: there is none */
	struct pd_store_manifest_segment *segments;	/* the oldest pages first */
	size_t n_segments, cap;
	uint64_t check;		/* of the text that was read; never the same twice, since file numbers are not used again */
};

void pd_store_manifest_print(const struct pd_store_manifest *m, struct pd_buf *out);
/* PD_ERR_FORMAT damaged, with the offset; PD_ERR_VERSION newer than this program.  `name` is for messages. */
int pd_store_manifest_parse(struct pd_store_manifest *m, struct pd_span text, const char *name, struct pd_err *e);
int pd_store_manifest_load(struct pd_store_manifest *m, const struct pd_store_io *io, struct pd_err *e);
/* Everything that it names must be durable. */
int pd_store_manifest_save(const struct pd_store_manifest *m, struct pd_store_io *io, struct pd_err *e);
void pd_store_manifest_release(struct pd_store_manifest *m);
/* Puts `s` in place of segments from .. to - 1. */
void pd_store_manifest_put(struct pd_store_manifest *m, size_t from, size_t to, struct pd_store_manifest_segment s);
void pd_store_manifest_cut(struct pd_store_manifest *m, size_t from, size_t to);

#endif
