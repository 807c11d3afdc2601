/* SPDX-License-Identifier: MIT
 *
 * Where the outputs of inputs go.  An input that was named goes to FOLDER/NAME, a file of a folder that was named to
 * FOLDER/NAME/…, as with `cp -r`; what was found under "." or ".." goes to FOLDER/….
 */
#ifndef PD_APPLY_PLACES_H
#define PD_APPLY_PLACES_H

#include "base/buf.h"
#include "read/files.h"

/* Replaces `out` by the path of the output of `file`. */
void pd_place_of(const char *folder, const struct pd_file *file, struct pd_buf *out);
/* Makes the folders that `path` lies in. */
int pd_place_make(const char *path, struct pd_err *e);
/* Is `path`, there or not, `folder` or something in it?  Links are followed. */
bool pd_place_inside(const char *path, const char *folder);

/* Names that were seen. */
struct pd_name_set {
	uint64_t *v;
	size_t n, cap;
};

/* False: it was there. */
bool pd_name_set_add(struct pd_name_set *s, struct pd_span name);
bool pd_name_set_has(const struct pd_name_set *s, struct pd_span name);
void pd_name_set_release(struct pd_name_set *s);

#endif
