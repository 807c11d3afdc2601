/* SPDX-License-Identifier: MIT
 *
 * What codec.c asks of a decompression library.  `self` is the library's state, made when first wanted and used for
 * member after member.
 */
#ifndef PD_BASE_CODEC_OPS_H
#define PD_BASE_CODEC_OPS_H

#include "base/codec.h"
#include "base/err.h"

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

extern const struct pd_codec_ops pd_codec_deflate, pd_codec_zstd, pd_codec_lz4, pd_codec_brotli;

bool pd_codec_zstd_dictionary(void *self, struct pd_span dictionary);

#endif
