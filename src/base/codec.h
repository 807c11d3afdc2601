/* SPDX-License-Identifier: MIT
 *
 * Decompression.  Two ways to the same bytes: `whole` (libdeflate, three times as fast) when all of the
 * compressed member is in memory, and a stream (zlib) when it is not.  Both end at a limit, so that a
 * decompression bomb costs no more than a page.
 */
#ifndef PD_BASE_CODEC_H
#define PD_BASE_CODEC_H

#include "base/buf.h"

enum pd_codec {
	PD_CODEC_GZIP,		/* RFC 1952 */
	PD_CODEC_ZLIB,		/* RFC 1950: HTTP's "deflate" as specified */
	PD_CODEC_DEFLATE,	/* RFC 1951: HTTP's "deflate" as some servers send it */
};

struct pd_unpacker;

struct pd_unpacker *pd_unpacker_new(void);
void pd_unpacker_free(struct pd_unpacker *u);

/* One member from `in`, appended to `out`, at most `limit` bytes of it; *used: bytes of `in` that it took.
 * 0; PD_ERR_INPUT damaged or cut (it cannot tell which: use a stream); PD_ERR_LIMIT over the limit. */
int pd_unpack_whole(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out,
		    size_t *used);

/* A stream: start, then feed.  feed takes from *in (which moves on) and appends up to `room` bytes to `out`.
 * Returns 1 when the member ended, 0 when it wants more input or more room, PD_ERR_INPUT when damaged. */
void pd_unpack_start(struct pd_unpacker *u, enum pd_codec codec);
int pd_unpack_feed(struct pd_unpacker *u, struct pd_span *in, size_t room, struct pd_buf *out);

/* Everything of `in` (several members allowed for gzip), as far as it can be read, up to `limit` bytes.
 * 0; PD_ERR_INPUT or PD_ERR_TRUNCATED after keeping what was good; PD_ERR_LIMIT after `limit` bytes. */
int pd_unpack_all(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out);

/* Does it begin like a gzip member?  (two magic bytes, deflate, no reserved flag) */
bool pd_looks_gzip(struct pd_span in);

#endif
