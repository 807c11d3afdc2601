/* SPDX-License-Identifier: MIT
 *
 * M7: the store, what is kept between runs.  Pages come as fp rows, are asked for by everything that was kept, and are kept
 * themselves or not (judge.h).  One process writes, any number read; a reader sees the store as it was when it was opened.
 *
 * What is added lies in the log and in memory (recent.h), until it becomes a segment; segments are merged in the
 * background, so that there are never more than a few of each size.  Any step can be the last one of the process: the
 * manifest names files that are whole, and the log tells the rest.
 *
 * Owned by who opened it; strings and texts that it hands out die with the next call.
 */
#ifndef PD_STORE_STORE_H
#define PD_STORE_STORE_H

#include "store/gone.h"
#include "store/log.h"
#include "store/manifest.h"
#include "store/near.h"
#include "store/recent.h"

#define PD_STORE_PAGES 10000000		/* the default k is for so many */

struct pd_store_merge;

/* When the log becomes a segment: at more pages than these between batches, and at the end of a run. */
struct pd_store_limits {
	size_t recent, left;		/* 0: PD_RECENT_MAX, PD_RECENT_LEFT */
	size_t dense;			/* 0: PD_STORE_DENSE (judge.h) */
};

struct pd_store {
	struct pd_io io;
	struct pd_store_limits limits;
	int lock;			/* -1: reading */
	struct pd_manifest m;
	struct pd_segment *segments;	/* as the manifest's */
	struct pd_recent recent;
	struct pd_gone gone;
	struct pd_io_file log;
	uint64_t log_synced;		/* bytes of the log that are durable */
	bool dirty;			/* the manifest has what is not on disk yet */
	struct pd_sketch_options sketch;
	struct pd_store_merge *merge;	/* in the background, or NULL */
	struct pd_text_cache *texts;
	struct pd_near near;
	struct pd_rows_found found;
	/* Not NULL: what is damaged is told and left out, so that the rest can be saved (pd_store_open, pd_store_each). */
	void (*damaged)(void *ctx, const char *what);
	void *damaged_ctx;
	bool lost;			/* a file of the manifest is missing, and no writer took it away */
	struct pd_buf damage;		/* messages of opening, each with its zero: told when all files are open */
};

/* Where a page lies.  Until the store changes. */
struct pd_store_place {
	uint64_t number;
	uint32_t segment;		/* PD_IN_LOG: recent */
	uint32_t row;
};
#define PD_IN_LOG UINT32_MAX

enum pd_store_mode { PD_STORE_READ, PD_STORE_WRITE };

/* Set io.before, io.ctx, limits and damaged, if at all, in a store of zeroes before these. */
struct pd_store_settings {
	int bits, k;
	int alone;		/* k where there is no second look: one of the pages has no sketch */
};
int pd_store_create(const char *dir, const struct pd_store_settings *settings, struct pd_io *io, struct pd_err *e);
int pd_store_open(struct pd_store *s, const char *dir, enum pd_store_mode mode, struct pd_err *e);
/* Without writing anything more. */
void pd_store_close(struct pd_store *s);
/* Distances that suit a store of PD_STORE_PAGES, as `match` chooses them. */
struct pd_store_settings pd_store_defaults(int bits);

/* Parameters of rows that come: taken when the store knows none, else PD_ERR_PARAMS says what differs.  must, recorded: of
 * a header; params: of a row. */
int pd_store_settle(struct pd_store *s, struct pd_span must, struct pd_span recorded, const char *where, struct pd_err *e);
int pd_store_settle_row(struct pd_store *s, struct pd_span params, struct pd_err *e);

/* Is it gone? */
bool pd_store_gone(const struct pd_store *s, const struct pd_store_place *p);
/* The page that is kept there; text and hashes only with `text`. */
int pd_store_page(struct pd_store *s, const struct pd_store_place *at, bool text, struct pd_store_page *out, struct pd_err *e);

struct pd_places {
	struct pd_store_place *v;
	size_t n, cap;
};
void pd_places_add(struct pd_places *p, struct pd_store_place at);
/* By number, each once. */
void pd_places_unique(struct pd_places *p);

/* Pages that are kept and agree in the hash where `mask` has ones (its highest bits), appended.  Hashes can lie: look. */
int pd_store_find(struct pd_store *s, enum pd_store_by by, uint64_t hash, uint64_t mask, struct pd_places *out, struct pd_err *e);
/* Pages that are kept and found by this band (page.h), the oldest first, appended: up to `most`, of each segment among the
 * first 4 * most. */
int pd_store_find_band(struct pd_store *s, uint32_t band, size_t most, struct pd_places *out, struct pd_err *e);
/* The page itself, if it is kept: 1, 0, or negative. */
int pd_store_find_same(struct pd_store *s, const struct pd_store_page *page, struct pd_store_place *at, struct pd_err *e);
/* Pages kept whose column is `value`: PD_BY_ID or PD_BY_URL. */
int pd_store_find_text(struct pd_store *s, enum pd_store_by by, struct pd_span value, struct pd_places *out, struct pd_err *e);
/* The kept page with this number: 1, 0, or negative. */
int pd_store_find_number(struct pd_store *s, uint64_t number, struct pd_store_place *at, struct pd_err *e);

/* Changes.  They are in memory at once, and durable after pd_store_sync. */
int pd_store_add(struct pd_store *s, const struct pd_store_page *page, const uint64_t *gone, size_t n_gone, uint64_t *number,
		 struct pd_err *e);
int pd_store_remove(struct pd_store *s, const uint64_t *gone, size_t n_gone, struct pd_err *e);
int pd_store_sync(struct pd_store *s, struct pd_err *e);
/* Between batches: makes a segment when the log is long, starts and ends merges.  `closing`: the end of a run. */
int pd_store_tend(struct pd_store *s, bool closing, struct pd_err *e);
/* One segment, nothing in it that is gone. */
int pd_store_compact(struct pd_store *s, struct pd_err *e);

/* Every kept page in the order of numbers; `each` returns 0 or a status that ends it.  With s->damaged set, a damaged block
 * of rows is told, and those after it still come. */
typedef int pd_store_each_fn(void *ctx, uint64_t number, const struct pd_store_page *page);
int pd_store_each(struct pd_store *s, pd_store_each_fn *each, void *ctx, struct pd_err *e);
/* Opens a store of zeroes, whose `damaged` is set, and looks at every byte of it, as it is at one moment: each damage is
 * told, with file and offset.  0, or what kept it from looking. */
int pd_store_verify(struct pd_store *s, const char *dir, struct pd_err *e);

/* Damage of one file: the first PD_STORE_TOLD are told as they come, of the others only how many they are. */
#define PD_STORE_TOLD 100
struct pd_store_damage {
	struct pd_store *s;
	const char *file;
	uint64_t n;
};
void pd_store_damage_tell(struct pd_store_damage *d, const char *what);
void pd_store_damage_end(const struct pd_store_damage *d);

/* Files of the store that only its own code names. */
int pd_store_open_segment(struct pd_store *s, size_t i, struct pd_segment *out, struct pd_err *e);
void pd_store_name(const struct pd_store *s, const char *kind, uint64_t file, char out[PD_IO_NAME_MAX], struct pd_buf *path);

#endif
