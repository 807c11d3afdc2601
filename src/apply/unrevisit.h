/* SPDX-License-Identifier: MIT
 *
 * Revisit records of any program -> the responses that they refer to.  All dumps are read once for the places of their
 * responses; then each revisit of an input that refers to one of them becomes a cut, and its response is made when it is
 * written.  The response has the header of the revisit record, its HTTP header (that of the original if it has none, or
 * the status 304), and the payload of the original.
 *
 * An index (CDXJ or CDX) names responses without reading their dumps: a dump is only read at the places of the responses
 * that a revisit refers to, and a line that is not about the record at its place is passed over.
 *
 * Memory: about 90 bytes for each response of the dumps and of the index, and one response of at most 1 GiB.
 */
#ifndef PD_APPLY_UNREVISIT_H
#define PD_APPLY_UNREVISIT_H

#include "apply/rewrite.h"

struct pd_apply_unrevisit;

/* `missing`: called for a revisit that is kept, with the reason; may be NULL. */
struct pd_apply_unrevisit *pd_apply_unrevisit_new(void (*missing)(void *ctx, const char *id, const char *why), void *ctx);
void pd_apply_unrevisit_free(struct pd_apply_unrevisit *u);
/* Note the responses of a dump.  Other files have none. */
int pd_apply_unrevisit_read(struct pd_apply_unrevisit *u, const char *path, struct pd_err *e);
/* Note the responses of an index.  Their dumps are found by the whole path or the base name in the index: among these files, or
 * under that path.  Lines without a position are reported to `damage`. */
int pd_apply_unrevisit_index(struct pd_apply_unrevisit *u, const char *path,
			     void (*damage)(void *ctx, const struct pd_read_damage *d), struct pd_err *e);
void pd_apply_unrevisit_note_file(struct pd_apply_unrevisit *u, const char *path);
/* The cuts of an input, valid until the next call, and the number of its revisits that are kept. */
int pd_apply_unrevisit_scan(struct pd_apply_unrevisit *u, const char *path, const char *name, const struct pd_apply_cut **cuts,
			    size_t *n, uint64_t *missed, struct pd_err *e);
/* The function with which the rewriter makes the record for a cut. */
int pd_apply_unrevisit_make(void *ctx, const struct pd_apply_cut *cut, struct pd_buf *out, struct pd_err *e);

#endif
