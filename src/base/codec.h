/* SPDX-License-Identifier: MIT
 *
 * Compression and decompression; the only place that includes the libraries.
 *
 * There are two ways to the same decompressed bytes: `whole` if all of the compressed member is in memory
 * (libdeflate for gzip is three times as fast), and a stream otherwise.  Both stop at a limit, so that a
 * decompression bomb costs no more than a page.
 *
 * Compression takes bytes in pieces and returns one member.  Only `apply` compresses.  The levels are the defaults
 * of the codecs.  The same bytes give the same member for any division into pieces.
 *
 * To add a codec: write a section in codec.c with its `struct codec_ops` (and `struct pack_ops`), add a row to the
 * tables, and a row to tests/unit/test_codec.c.
 */
#ifndef PD_BASE_CODEC_H
#define PD_BASE_CODEC_H

#include "base/buf.h"
#include "base/err.h"

/* --- decompression --- */

enum pd_codec {
	PD_CODEC_NONE,	  /* not compressed: a value for callers, not for decompression */
	PD_CODEC_GZIP,	  /* RFC 1952 */
	PD_CODEC_ZLIB,	  /* RFC 1950: HTTP's "deflate" as specified */
	PD_CODEC_DEFLATE, /* RFC 1951: HTTP's "deflate" as some servers send it */
	PD_CODEC_ZSTD,	  /* RFC 8878; a skippable frame is a member without bytes; windows up to 128 MiB */
	PD_CODEC_LZ4,	  /* LZ4 frame format 1.6; a skippable frame is a member without bytes */
	PD_CODEC_BROTLI,  /* RFC 7932 */
	PD_CODEC_XZ,	  /* .xz format 1.1; a member is a stream; up to 256 MiB of memory */
	PD_CODEC_BZIP2,	  /* a member is a stream */
	PD_CODECS
};

struct pd_unpacker;

struct pd_unpacker *pd_unpacker_new(void);
void pd_unpacker_free(struct pd_unpacker *u);
/* Set the dictionary of the following zstd frames (raw content, or zstd's format); an empty one removes it.  Return
 * false if it begins like a dictionary in zstd's format but is damaged. */
bool pd_unpacker_dictionary(struct pd_unpacker *u, struct pd_span dictionary);

/* Decompress one member from `in`, append at most `limit` bytes to `out`, and set *used to the number of consumed
 * bytes.  Return 0; PD_ERR_INPUT if damaged or cut (a stream can distinguish these); PD_ERR_LIMIT; PD_ERR_USAGE if
 * the codec has no such function. */
int pd_unpack_whole(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out, size_t *used);

/* A stream: start, then feed.  feed consumes *in, which advances, and appends up to `room` bytes to `out`.  Return 1
 * at the end of the member, 0 if more input or room is needed, PD_ERR_INPUT if damaged, PD_ERR_LIMIT if it needs
 * more memory than allowed (a zstd window over 128 MiB, an xz dictionary over 256 MiB). */
void pd_unpack_start(struct pd_unpacker *u, enum pd_codec codec);
int pd_unpack_feed(struct pd_unpacker *u, struct pd_span *in, size_t room, struct pd_buf *out);

/* Decompress all of `in` (for gzip, zstd, lz4, xz and bzip2 also several members), up to `limit` bytes.  Return 0;
 * PD_ERR_INPUT or PD_ERR_TRUNCATED after keeping the good bytes; PD_ERR_LIMIT after `limit` bytes. */
int pd_unpack_all(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out);

/* For data that only this program reads: append one lz4 block without frame and checksum to `out`, or the bytes
 * unchanged if they do not shrink. */
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
	return in.n >= 4 && (uint8_t)in.p[0] == 0x1f && (uint8_t)in.p[1] == 0x8b && in.p[2] == 8 && !((uint8_t)in.p[3] & 0xe0);
}

/* Return whether the bytes begin a skippable frame, which zstd and lz4 have in common.  Its length is in the first
 * eight bytes. */
static inline bool pd_looks_skippable(struct pd_span in)
{
	return in.n >= 4 && ((uint8_t)in.p[0] & 0xf0) == 0x50 && memcmp(in.p + 1, "\x2a\x4d\x18", 3) == 0;
}

/* Does it begin like a member of `codec`?  False for codecs without magic bytes, or that this program was built without. */
bool pd_looks_packed(enum pd_codec codec, struct pd_span in);
/* The bytes that every member begins with that is not skippable; empty for codecs without. */
struct pd_span pd_codec_magic(enum pd_codec codec);
/* Return the first position of the magic bytes in `in`, or NULL. */
const char *pd_codec_find(enum pd_codec codec, struct pd_span in);

/* --- compression --- */

struct pd_packer;

struct pd_packer *pd_packer_new(void);
void pd_packer_free(struct pd_packer *p);
/* A new member of `codec`: gzip, zstd, lz4, xz or bzip2; PD_CODEC_NONE passes bytes on. */
void pd_pack_start(struct pd_packer *p, enum pd_codec codec);
/* Consume all of `in`; append the output produced so far to `out`. */
void pd_pack_feed(struct pd_packer *p, struct pd_span in, struct pd_buf *out);
/* The end of the member. */
void pd_pack_end(struct pd_packer *p, struct pd_buf *out);

#endif
