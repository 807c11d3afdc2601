/* SPDX-License-Identifier: MIT
 * Brotli.  The only place that includes libbrotlidec, which cannot begin anew: a decoder serves one stream. */
#include <brotli/decode.h>
#include <stdlib.h>

#include "base/codec_ops.h"

struct brotli {
	BrotliDecoderState *state;
};

static void *open_brotli(void)
{
	return pd_zalloc(sizeof(struct brotli));
}

static void close_brotli(void *self)
{
	struct brotli *b = self;
	if (b->state)
		BrotliDecoderDestroyInstance(b->state);
	free(b);
}

static void *allocate(void *opaque, size_t n)
{
	return pd_alloc(n);
}

static void release(void *opaque, void *p)
{
	free(p);
}

static void start(void *self, enum pd_codec codec)
{
	struct brotli *b = self;
	if (b->state)
		BrotliDecoderDestroyInstance(b->state);
	b->state = NULL;
	b->state = BrotliDecoderCreateInstance(allocate, release, NULL);
}

static int feed(void *self, struct pd_span *in, char *out, size_t room, size_t *made)
{
	struct brotli *b = self;
	const uint8_t *from = (const uint8_t *)in->p;
	uint8_t *to = (uint8_t *)out;
	size_t left = room;
	BrotliDecoderResult r = BrotliDecoderDecompressStream(b->state, &in->n, &from, &left, &to, NULL);
	in->p = (const char *)from;
	*made = room - left;
	if (r == BROTLI_DECODER_RESULT_SUCCESS)
		return 1;
	return r == BROTLI_DECODER_RESULT_ERROR ? PD_ERR_INPUT : 0;
}

const struct pd_codec_ops pd_codec_brotli = { open_brotli, close_brotli, NULL, start, feed };
