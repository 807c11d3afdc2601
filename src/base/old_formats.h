/* SPDX-License-Identifier: MIT
 *
 * Older versions of binary files, from before the container (base/container.h): each function checks a whole file of
 * its kind, with its own header and checksums, and sets the sections that a container of today has.  No bytes are
 * copied: the sections are views into the old file.  The formats are described in docs/format-*.md of version 0.2.0.
 */
#ifndef PD_BASE_OLD_FORMATS_H
#define PD_BASE_OLD_FORMATS_H

#include "base/container.h"

/* For `old` of a kind of file. */
int pd_old_dict(struct pd_container *c, struct pd_err *e);	   /* version 3 of src/term/dict_layout.h */
int pd_old_seen(struct pd_container *c, struct pd_err *e);	   /* version 1 of src/url/seen.h */
int pd_old_keyfile(struct pd_container *c, struct pd_err *e);	   /* versions 1 to 3 of src/match/keyfile.h */
int pd_old_batch_tables(struct pd_container *c, struct pd_err *e); /* version 1 of src/tools/engine/batch_tables.h */
int pd_old_shingles(struct pd_container *c, struct pd_err *e);	   /* version 2 of src/row/shingles.h */
int pd_old_boilerplate(struct pd_container *c, struct pd_err *e);  /* version 1 of src/topic/boilerplate.h */
/* Versions 1 to 6 of a store's files: src/store/log.h, keytable.h, segment_layout.h. */
int pd_old_tombstones(struct pd_container *c, struct pd_err *e);
int pd_old_sums(struct pd_container *c, struct pd_err *e);
int pd_old_segment(struct pd_container *c, struct pd_err *e);

#endif
