/* SPDX-License-Identifier: MIT
 *
 * Inputs and the pages that are to go -> the inputs without them, one output for each input.  In two walks all
 * inputs are checked by name before anything is written (do two of them go to one place? which file of the verdicts is
 * each?); then they are done one after the other, and each output has its name only once it is whole.
 *
 *	pd_apply_open(&a, &o, e);
 *	while ((r = pd_apply_next(a, &done, e)) == 1) …
 *
 * An input that loses nothing is copied, or linked; it is read only for its revisit records, where pages of dumps go.
 */
#ifndef PD_APPLY_APPLY_H
#define PD_APPLY_APPLY_H

#include "apply/removals.h"
#include "read/files.h"
#include "read/record.h"

struct stat;

enum pd_apply_mode {
	PD_APPLY_WRITE,
	PD_APPLY_LIST,			/* nothing is written: see `on_page` and pd_apply_result */
	PD_APPLY_MEASURE,		/* nothing is written, but bytes are those that would be */
};

struct pd_apply_options {
	struct pd_reader_options in;	/* as for fp; `damage` is called for what is damaged and stays as it is */
	struct pd_apply_removals *removals;
	enum pd_apply_mode mode;
	const char *output;		/* a file, "-", or with `to_folder` a folder */
	bool to_folder;
	bool distinct;			/* every input needs a name of its own, whatever is written */
	/* The other way: dumps with revisits in place of what was removed -> what they were made from.  Nothing is
	 * removed, and no file that is there is written over. */
	bool restore;
	const char *originals;		/* the folder to search for it; or NULL */
	void (*missing)(void *ctx, const char *id, const char *why);	/* a revisit that stays; or NULL */
	bool any_packing;		/* what `fp` cannot unpack is copied as it is, not refused */
	bool link;			/* hard links to inputs that lose nothing */
	bool keep_others;		/* records that are no pages stay all */
	bool rewrite_revisits;		/* a revisit record for each page removed; `removals` need dup_of, and inputs are files */
	const char *const *reserved;	/* names in the folder that no input may take, NULL at the end; or NULL */
	const char *const *also_written;	/* with `to_folder`: files that are no inputs, nor lie in an input folder; NULL at the end; or NULL */
	const char *const *also_read;	/* files that no output may take, beside the inputs; NULL at the end; or NULL */
	struct pd_outfile_batch *batch;	/* the outputs get their names with it, and the caller commits it; NULL: each at once */
	const char *tmp_dir;		/* for inputs that can be read only once */
	void (*on_page)(void *ctx, const struct pd_record *r, struct pd_span dup_of);	/* it goes; may be NULL */
	void (*other_url)(void *ctx, const char *id);	/* the record has another URL than its verdict: it stays */
	/* The page has another content digest than its verdict, or its verdict has none: it is kept.  May be NULL. */
	void (*other_page)(void *ctx, const char *id, const char *why);
	bool unchecked;			/* digests are not compared */
	size_t max_page;		/* as for fp, which takes digests of so much of a page */
	void (*lost)(void *ctx, const struct pd_read_damage *d);	/* a broken member that had to be compressed again */
	/* A revisit record stays, and what it refers to does not; called at the end.  NULL: nobody wants to know, and inputs that
	 * lose nothing are not read for it. */
	void (*orphan)(void *ctx, const char *id);
	/* The file that an input is, just before it is read; `st` NULL: it cannot be opened.  Negative: not what it was.  NULL: any
	 * will do. */
	int (*meet)(void *ctx, const struct pd_read_file *file, const struct stat *st, struct pd_err *e);
	bool (*skip)(void *ctx, const struct pd_read_file *file, const char *output);	/* done already; may be NULL */
	void *ctx;
};

/* What became of an input. */
struct pd_apply_result {
	const struct pd_read_file *file;	/* the input; dies at the next call */
	const char *output;		/* where it went; NULL: nowhere, it is a page that goes, or nothing is written */
	const char *place;		/* its name in a folder of outputs */
	bool page;			/* the input is one page that goes */
	bool skipped;
	bool linked;			/* the output is a hard link to the input */
	int error;			/* errno: a file of a folder or a list that cannot be opened; nothing was done with it */
	uint64_t pages, removed_with_page;		/* records that went: pages, and others with them */
	uint64_t revisits;		/* revisit records that stand in the place of pages, or of other revisits */
	uint64_t restored, missing;	/* revisit records whose originals were given back, and that stay */
	uint64_t bytes_in, bytes_out;
	uint64_t rewritten, lost;	/* members compressed again; bytes of broken ones that could not be kept */
};

struct pd_apply;

/* `o` must stay.  PD_ERR_USAGE: two inputs would become one file, or the like. */
int pd_apply_open(struct pd_apply **out, const struct pd_apply_options *o, struct pd_err *e);
/* The next input: 1; 0 no more; negative. */
int pd_apply_next(struct pd_apply *a, struct pd_apply_result *out, struct pd_err *e);
void pd_apply_free(struct pd_apply *a);

/* Makes the folders that `path` is in, and syncs their names: now, or with `batch` unless it is NULL. */
int pd_apply_make_folders(const char *path, struct pd_outfile_batch *batch, struct pd_err *e);

#endif
