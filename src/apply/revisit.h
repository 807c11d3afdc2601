/* SPDX-License-Identifier: MIT
 *
 * Revisit records (WARC/1.1, 6.7) in place of what is removed from a WARC file, and the way back.  In: the verdicts, and all
 * inputs of the run, read once before anything is written.  Out: for a page that is removed, and for a revisit of such a page,
 * a record that names the page kept and the bytes that it stands for:
 *
 *	WARC-Type: revisit
 *	WARC-Record-ID, WARC-Target-URI, WARC-Date	of the record that it stands for: what names that one names it
 *	WARC-Profile: urn:pagededup:revisit:near-duplicate
 *	WARC-Refers-To, -Target-URI, -Date		the page kept
 *	WARC-Payload-Digest				of the page kept, by which replay finds it
 *	Pagededup-Kept					its id in the verdicts
 *	Pagededup-Original-Type, -Payload-Digest	of the record that it stands for
 *	Pagededup-Original-File, -Offset, -Length, -Digest	its bytes in the input, compressed as they were
 *
 * Records that share a compressed member with others share one range of bytes, that of the members.
 *
 * Memory: a kept page about 200 bytes, a removed one 32 to 64.
 */
#ifndef PD_APPLY_REVISIT_H
#define PD_APPLY_REVISIT_H

#include "apply/removals.h"
#include "read/source.h"

/* The pages kept, and which of them each removed one is a duplicate of. */
struct pd_apply_kept;

/* `removals`: with dup_of. */
struct pd_apply_kept *pd_apply_kept_new(const struct pd_apply_removals *removals);
void pd_apply_kept_free(struct pd_apply_kept *k);
/* An input, which the rows call `name`: every one, before the first revisit is written. */
int pd_apply_kept_read(struct pd_apply_kept *k, const char *path, const char *name, struct pd_err *e);

/* Hashes by which revisits know what they refer to: a record's id; URL and time.  0: there is none. */
uint64_t pd_apply_hash_field(struct pd_span value);
uint64_t pd_apply_hash_capture(struct pd_span url, struct pd_span date);
/* Is the record of this hash a page that is removed? */
bool pd_apply_kept_is_removed(const struct pd_apply_kept *k, uint64_t hash);

/* Appends the record for `r`, with its header kept, up to where its bytes lie.  `dup_of`: of a page, as the rows have it.
 * `hash`: of a revisit, what it refers to. */
void pd_apply_revisit_begin(const struct pd_apply_kept *k, const struct pd_record *r, struct pd_span dup_of, uint64_t hash,
			    struct pd_buf *out);
/* … and the rest. */
void pd_apply_revisit_end(const char *path, uint64_t offset, uint64_t length, struct pd_span digest, struct pd_buf *out);

/* What such a record says of the bytes that it stands for. */
struct pd_apply_original {
	struct pd_buf file;
	uint64_t offset, length;
	struct pd_span digest;		/* lies in the header */
};

/* False: it is another record. */
bool pd_apply_original_parse(struct pd_span header, struct pd_apply_original *out);

/* Appends the digest of bytes of a file: "sha1:" and 32 characters. */
int pd_apply_digest_range(const char *path, uint64_t offset, uint64_t length, struct pd_buf *out, struct pd_err *e);
/* Where the compressed member that begins at `at` ends; of a broken one, where the next begins.  `s` is opened and closed. */
int pd_apply_member_end(struct pd_read_source *s, const char *path, const char *name, uint64_t at, uint64_t *end, struct pd_err *e);

#endif
