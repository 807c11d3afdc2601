/* SPDX-License-Identifier: MIT
 *
 * Decompression and compression, the only place that includes the libraries.
 *
 * Two ways to the same decompressed bytes: `whole` when all of the compressed member is in memory (for gzip libdeflate, three
 * times as fast), and a stream when it is not.  Both end at a limit, so that a decompression bomb costs no more than a page.
 *
 * Compression: bytes in, one member of a codec out, piece by piece.  Only what `apply` must write again is compressed; levels are
 * the codecs' own defaults.  The same bytes give the same member, whatever the pieces.
 *
 * Adding a codec: in codec.c a section with its `struct codec_ops` (and `struct pack_ops`), a row in the tables; a row in
 * tests/unit/test_codec.c.
 */
#ifndef PD_BASE_CODEC_H
#define PD_BASE_CODEC_H

#include "base/buf.h"
#include "base/err.h"

/* --- decompression --- */

enum pd_codec {
	PD_CODEC_NONE,		/* not compressed: for those who must say so, not to be unpacked */
	PD_CODEC_GZIP,		/* RFC 1952 */
	PD_CODEC_ZLIB,		/* RFC 1950: HTTP's "deflate" as specified */
	PD_CODEC_DEFLATE,	/* RFC 1951: HTTP's "deflate" as some servers send it */
	PD_CODEC_ZSTD,		/* RFC 8878; a skippable frame is a member without bytes; windows up to 128 MiB */
	PD_CODEC_LZ4,		/* LZ4 frame format 1.6; a skippable frame is a member without bytes */
	PD_CODEC_BROTLI,	/* RFC 7932 */
	PD_CODEC_XZ,		/* .xz format 1.1; a member is a stream; up to 256 MiB of memory */
	PD_CODEC_BZIP2,		/* a member is a stream */
	PD_CODECS
};

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
 * it wants more memory than is granted (a zstd window over 128 MiB, an xz dictionary over 256 MiB). */
void pd_unpack_start(struct pd_unpacker *u, enum pd_codec codec);
int pd_unpack_feed(struct pd_unpacker *u, struct pd_span *in, size_t room, struct pd_buf *out);

/* Everything of `in` (several members allowed for gzip, zstd, lz4, xz and bzip2), as far as it can be read, up to `limit` bytes.
 * 0; PD_ERR_INPUT or PD_ERR_TRUNCATED after keeping what was good; PD_ERR_LIMIT after `limit` bytes. */
int pd_unpack_all(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out);

/* What the program itself reads again, at once: one lz4 block, without a frame and without a checksum, appended to `out`; or, where it
 * would not be smaller, as it is. */
void pd_block_pack(struct pd_span in, struct pd_buf *out);
/* Appended to `out`.  False: damaged. */
bool pd_block_unpack(struct pd_span in, struct pd_buf *out);

/* The other way: `in` as one zstd frame, appended to `out`. */
struct pd_zstd_packer;
struct pd_zstd_packer *pd_zstd_packer_new(void);
void pd_zstd_packer_free(struct pd_zstd_packer *p);
void pd_zstd_pack(struct pd_zstd_packer *p, struct pd_span in, struct pd_buf *out);

/* Does it begin like a gzip member?  (two magic bytes, deflate, no reserved flag) */
static inline bool pd_looks_gzip(struct pd_span in)
{
	return in.n >= 4 && (uint8_t)in.p[0] == 0x1f && (uint8_t)in.p[1] == 0x8b && in.p[2] == 8 &&
	       !((uint8_t)in.p[3] & 0xe0);
}

/* Does it begin like a skippable frame, which zstd and lz4 share?  Eight bytes tell its length without them. */
static inline bool pd_looks_skippable(struct pd_span in)
{
	return in.n >= 4 && ((uint8_t)in.p[0] & 0xf0) == 0x50 && memcmp(in.p + 1, "\x2a\x4d\x18", 3) == 0;
}

/* Does it begin like a member of `codec`?  False for codecs without magic bytes, or that this program was built without. */
bool pd_looks_packed(enum pd_codec codec, struct pd_span in);
/* The bytes that every member begins with that is not skippable; empty for codecs without. */
struct pd_span pd_codec_magic(enum pd_codec codec);
/* Where they are first in `in`; NULL: nowhere, or there are none. */
const char *pd_codec_find(enum pd_codec codec, struct pd_span in);

/* --- compression --- */

struct pd_packer;

struct pd_packer *pd_packer_new(void);
void pd_packer_free(struct pd_packer *p);
/* A new member of `codec`: gzip, zstd, lz4, xz or bzip2; PD_CODEC_NONE passes bytes on. */
void pd_pack_start(struct pd_packer *p, enum pd_codec codec);
/* All of `in` is taken; what comes out of it so far is appended to `out`. */
void pd_pack_feed(struct pd_packer *p, struct pd_span in, struct pd_buf *out);
/* The end of the member. */
void pd_pack_end(struct pd_packer *p, struct pd_buf *out);

#endif
