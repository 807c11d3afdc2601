/* SPDX-License-Identifier: MIT
 *
 * The names of outputs in a folder, after those of the inputs.  An input that was named becomes NAME, a file of a folder
 * that was named becomes NAME/…, as with `cp -r`; what was found under "." or ".." keeps its path from there.  Where two
 * would have one name, all keep the folders that they were named with, but for those that they have in common:
 *
 *	a/crawl.gz b/crawl.gz		->	a/crawl.gz, b/crawl.gz
 *	/data/1/crawl.gz /data/2/x.gz /data/2/crawl.gz	->	1/crawl.gz, 2/x.gz, 2/crawl.gz
 */
#ifndef PD_APPLY_PLACES_H
#define PD_APPLY_PLACES_H

#include "base/map.h"
#include "read/files.h"

struct pd_apply_places {
	struct pd_map seen;	/* hashes of names */
	bool any, twice;	/* twice: some name alone does not tell */
	struct pd_buf common;	/* folders that all have in common, with a slash behind each */
	struct pd_buf folders;	/* scratch */
};

/* Every input, before the first name is asked for. */
void pd_apply_places_add(struct pd_apply_places *p, const struct pd_read_file *file);
/* Replaces `out` by the name of an output. */
void pd_apply_places_name(struct pd_apply_places *p, const struct pd_read_file *file, struct pd_buf *out);
void pd_apply_places_release(struct pd_apply_places *p);

/* Makes the folders that `path` lies in. */
int pd_apply_make_folders(const char *path, struct pd_err *e);
/* Is `path`, there or not, `folder` or something in it?  Links are followed.  1, 0, or negative: nobody could tell. */
int pd_apply_is_inside(const char *path, const char *folder, struct pd_err *e);

#endif
