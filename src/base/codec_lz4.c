/* SPDX-License-Identifier: MIT
 * lz4 frames.  The only place that includes liblz4. */
#include <lz4frame.h>
#include <stdlib.h>

#include "base/codec_ops.h"

static void *open_lz4(void)
{
	LZ4F_dctx *d;
	if (LZ4F_isError(LZ4F_createDecompressionContext(&d, LZ4F_VERSION)))
		abort();
	return d;
}

static void close_lz4(void *self)
{
	LZ4F_freeDecompressionContext(self);
}

static void start(void *self, enum pd_codec codec)
{
	LZ4F_resetDecompressionContext(self);
}

static int feed(void *self, struct pd_span *in, char *out, size_t room, size_t *made)
{
	size_t used = in->n;
	*made = room;
	size_t r = LZ4F_decompress(self, out, made, in->p, &used, NULL);
	if (LZ4F_isError(r)) {
		*made = 0;
		return PD_ERR_INPUT;
	}
	in->p += used;
	in->n -= used;
	return r == 0;
}

const struct pd_codec_ops pd_codec_lz4 = { open_lz4, close_lz4, NULL, start, feed };
