/* SPDX-License-Identifier: MIT
 *
 * The codecs, and what codec.c asks of a decompression library, and pack.c of a compression library.  `self` is the library's state, made
 * when first wanted and used for member after member.
 */
#ifndef PD_BASE_CODEC_OPS_H
#define PD_BASE_CODEC_OPS_H

#include "base/buf.h"
#include "base/err.h"

enum pd_codec {
	PD_CODEC_NONE,		/* not compressed: for those who must say so, not to be unpacked */
	PD_CODEC_GZIP,		/* RFC 1952 */
	PD_CODEC_ZLIB,		/* RFC 1950: HTTP's "deflate" as specified */
	PD_CODEC_DEFLATE,	/* RFC 1951: HTTP's "deflate" as some servers send it */
	PD_CODEC_ZSTD,		/* RFC 8878; a skippable frame is a member without bytes; windows up to 128 MiB */
	PD_CODEC_LZ4,		/* LZ4 frame format 1.6; a skippable frame is a member without bytes */
	PD_CODEC_BROTLI,	/* RFC 7932 */
	PD_CODECS
};

struct pd_codec_ops {
	void *(*open)(void);
	void (*close)(void *self);
	/* One member that lies in memory: PD_OK, PD_ERR_LIMIT when `room` is too small, PD_ERR_INPUT.  NULL: there is
	 * no such way that would be faster than the stream. */
	int (*whole)(void *self, enum pd_codec codec, struct pd_span in, char *out, size_t room, size_t *used, size_t *made);
	void (*start)(void *self, enum pd_codec codec);
	/* As pd_unpack_feed, into `room` bytes at `out`. */
	int (*feed)(void *self, struct pd_span *in, char *out, size_t room, size_t *made);
};

/* What pack.c asks of a compression library. */
struct pd_pack_ops {
	void *(*open)(void);
	void (*close)(void *self);
	void (*start)(void *self);
	/* Takes from *in, which moves on, and writes up to `room` bytes (at least 256 KiB; *in is at most 64) at `out`.  True:
	 * all of *in was taken and, with `end`, the member is whole. */
	bool (*pack)(void *self, struct pd_span *in, bool end, char *out, size_t room, size_t *made);
};

extern const struct pd_pack_ops pd_pack_gzip, pd_pack_zstd, pd_pack_lz4;

extern const struct pd_codec_ops pd_codec_deflate, pd_codec_zstd, pd_codec_lz4, pd_codec_brotli;

bool pd_codec_zstd_dictionary(void *self, struct pd_span dictionary);

#endif
