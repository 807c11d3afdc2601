/* SPDX-License-Identifier: MIT
 *
 * What a store holds, as it lies in its files and in memory, and how it is found there.  A reader sees the store as it was
 * when it was opened; strings and texts that are handed out die with the next call.
 */
#ifndef PD_STORE_CONTENTS_H
#define PD_STORE_CONTENTS_H

#include "store/log.h"
#include "store/manifest.h"
#include "store/near.h"
#include "store/recent.h"
#include "store/tombstones.h"

/* Others than usual, for tests: 0 is the usual one. */
struct pd_store_limits {
	size_t recent, left;		/* PD_STORE_RECENT_MAX, PD_STORE_RECENT_LEFT */
	size_t dense;			/* PD_STORE_DENSE (judge.h) */
};

struct pd_store {
	struct pd_store_io io;
	struct pd_store_limits limits;
	int lock;			/* -1: reading */
	struct pd_store_manifest m;
	struct pd_store_segment *segments;	/* as the manifest's */
	struct pd_store_recent recent;
	struct pd_store_tombstones tombstones;
	struct pd_store_io_file log;
	uint64_t log_synced;		/* bytes of the log that are durable */
	bool dirty;			/* the manifest has what is not on disk yet */
	struct pd_sketch_options sketch;
	struct pd_store_merge *merge;	/* in the background, or NULL (store.c) */
	struct pd_store_text_cache *texts;
	struct pd_store_near near;
	struct pd_store_rows_found found;
	/* Not NULL: what is damaged is told and left out, so that the rest can be saved (pd_store_open, pd_store_each). */
	void (*damaged)(void *ctx, const char *what);
	void *damaged_ctx;
	bool lost;			/* a file of the manifest is missing, and no writer took it away */
	struct pd_buf damage;		/* messages of opening, each with its zero: told when all files are open */
};

/* All files of the manifest, as they are at one moment.  `io` is open; with a lock the log is made ready to be written. */
int pd_store_load(struct pd_store *s, struct pd_err *e);
void pd_store_unload(struct pd_store *s);

/* The name of a file, log-N, seg-N or gone-N; `path`, unless it is NULL, is set to the same with the folder. */
void pd_store_file_name(const struct pd_store *s, const char *kind, uint64_t file, char out[PD_STORE_IO_NAME_MAX],
			struct pd_buf *path);
/* Segment i of the manifest, mapped once more. */
int pd_store_open_segment(struct pd_store *s, size_t i, struct pd_store_segment *out, struct pd_err *e);
/* File 0: none. */
int pd_store_open_tombstones(struct pd_store *s, uint64_t file, struct pd_store_tombstones *out, struct pd_err *e);

/* Damage of one file: the first PD_STORE_TOLD are told as they come, of the others only how many they are. */
#define PD_STORE_TOLD 100
struct pd_store_damage {
	struct pd_store *s;
	const char *file;
	uint64_t n;
};
void pd_store_damage_tell(struct pd_store_damage *d, const char *what);
void pd_store_damage_end(const struct pd_store_damage *d);

/* Where a page lies.  Until the store changes. */
struct pd_store_place {
	uint64_t number;
	uint32_t segment;		/* PD_STORE_IN_LOG: recent */
	uint32_t row;
};
#define PD_STORE_IN_LOG UINT32_MAX

struct pd_store_places {
	struct pd_store_place *v;
	size_t n, cap;
};

bool pd_store_is_removed(const struct pd_store *s, const struct pd_store_place *p);
/* The page that is kept there; text and hashes only with `text`. */
int pd_store_page(struct pd_store *s, const struct pd_store_place *at, bool text, struct pd_store_page *out,
		  struct pd_err *e);

/* Pages that are kept and agree in the hash where `mask` has ones (its highest bits), appended.  Hashes can lie: look. */
int pd_store_find(struct pd_store *s, enum pd_store_by by, uint64_t hash, uint64_t mask, struct pd_store_places *out,
		  struct pd_err *e);
/* Pages that are kept and found by one of the bands (page.h), anew, each once, in the order of numbers: of each band the
 * oldest `most`, looked for among the oldest 4 * most of each segment. */
int pd_store_find_bands(struct pd_store *s, const uint32_t *bands, size_t n, size_t most, struct pd_store_places *out,
			struct pd_err *e);
/* The page itself, if it is kept: 1, 0, or negative. */
int pd_store_find_same(struct pd_store *s, const struct pd_store_page *page, struct pd_store_place *at,
		       struct pd_err *e);
/* Pages kept whose column is `value`, appended: PD_STORE_BY_ID or PD_STORE_BY_URL. */
int pd_store_find_text(struct pd_store *s, enum pd_store_by by, struct pd_span value, struct pd_store_places *out,
		       struct pd_err *e);
/* The kept page with this number: 1, 0, or negative. */
int pd_store_find_number(struct pd_store *s, uint64_t number, struct pd_store_place *at, struct pd_err *e);

/* Every kept page in the order of numbers; `each` returns 0 or a status that ends it.  With s->damaged set, a damaged block
 * of rows is told, and those after it still come. */
typedef int pd_store_each_fn(void *ctx, uint64_t number, const struct pd_store_page *page);
int pd_store_each(struct pd_store *s, pd_store_each_fn *each, void *ctx, struct pd_err *e);

/* How much is kept: pages, tombstones (pages removed that lie in a segment still), bytes of files. */
struct pd_store_size {
	uint64_t pages, tombstones, bytes;
};
int pd_store_measure(struct pd_store *s, struct pd_store_size *out, struct pd_err *e);

#endif
