/* SPDX-License-Identifier: MIT
 *
 * Decompression.  Two ways to the same bytes: `whole` when all of the compressed member is in memory (for gzip
 * libdeflate, three times as fast), and a stream when it is not.  Both end at a limit, so that a decompression bomb
 * costs no more than a page.
 *
 * Adding a codec: a file codec_NAME.c with its `struct pd_codec_ops`, the only place that includes its library; a row
 * in the table of codec.c; a row in tests/unit/test_codec.c.
 */
#ifndef PD_BASE_CODEC_H
#define PD_BASE_CODEC_H

#include "base/codec_ops.h"

struct pd_unpacker;

struct pd_unpacker *pd_unpacker_new(void);
void pd_unpacker_free(struct pd_unpacker *u);
/* What zstd frames refer to from now on (raw content, or a dictionary in zstd's format); an empty one forgets it.
 * False: it begins like a dictionary but is none. */
bool pd_unpacker_dictionary(struct pd_unpacker *u, struct pd_span dictionary);

/* One member from `in`, appended to `out`, at most `limit` bytes of it; *used: bytes of `in` that it took.
 * 0; PD_ERR_INPUT damaged or cut (it cannot tell which: use a stream); PD_ERR_LIMIT over the limit;
 * PD_ERR_USAGE the codec has no such way. */
int pd_unpack_whole(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out,
		    size_t *used);

/* A stream: start, then feed.  feed takes from *in (which moves on) and appends up to `room` bytes to `out`.
 * Returns 1 when the member ended, 0 when it wants more input or more room, PD_ERR_INPUT when damaged, PD_ERR_LIMIT when
 * it wants more memory than is granted (a zstd window over 128 MiB). */
void pd_unpack_start(struct pd_unpacker *u, enum pd_codec codec);
int pd_unpack_feed(struct pd_unpacker *u, struct pd_span *in, size_t room, struct pd_buf *out);

/* Everything of `in` (several members allowed for gzip, zstd and lz4), as far as it can be read, up to `limit` bytes.
 * 0; PD_ERR_INPUT or PD_ERR_TRUNCATED after keeping what was good; PD_ERR_LIMIT after `limit` bytes. */
int pd_unpack_all(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out);

/* The other way: `in` as one zstd frame, appended to `out`. */
struct pd_zstd_packer;
struct pd_zstd_packer *pd_zstd_packer_new(void);
void pd_zstd_packer_free(struct pd_zstd_packer *p);
void pd_zstd_pack(struct pd_zstd_packer *p, struct pd_span in, struct pd_buf *out);

/* Does it begin like a gzip member?  (two magic bytes, deflate, no reserved flag) */
bool pd_looks_gzip(struct pd_span in);
/* Does it begin like a skippable frame, which zstd and lz4 share?  Eight bytes tell its length without them. */
bool pd_looks_skippable(struct pd_span in);
/* Does it begin like a member of `codec`?  False for codecs without magic bytes. */
bool pd_looks_packed(enum pd_codec codec, struct pd_span in);
/* The bytes that every member begins with that is not skippable; empty for codecs without. */
struct pd_span pd_codec_magic(enum pd_codec codec);

#endif
