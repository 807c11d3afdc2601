/* SPDX-License-Identifier: MIT
 * gzip, zlib and bare deflate.  The only place that includes zlib and libdeflate. */
#include <libdeflate.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/codec_ops.h"

struct deflate {
	struct libdeflate_decompressor *whole;
	z_stream z;
	bool z_ready;
};

static void *open_deflate(void)
{
	struct deflate *d = pd_zalloc(sizeof *d);
	d->whole = pd_have(libdeflate_alloc_decompressor());
	return d;
}

static void close_deflate(void *self)
{
	struct deflate *d = self;
	libdeflate_free_decompressor(d->whole);
	if (d->z_ready)
		inflateEnd(&d->z);
	free(d);
}

static enum libdeflate_result inflate_whole(struct deflate *d, enum pd_codec codec, struct pd_span in, char *out,
					    size_t room, size_t *used, size_t *made)
{
	switch (codec) {
	case PD_CODEC_GZIP: return libdeflate_gzip_decompress_ex(d->whole, in.p, in.n, out, room, used, made);
	case PD_CODEC_ZLIB: return libdeflate_zlib_decompress_ex(d->whole, in.p, in.n, out, room, used, made);
	default: return libdeflate_deflate_decompress_ex(d->whole, in.p, in.n, out, room, used, made);
	}
}

static int whole(void *self, enum pd_codec codec, struct pd_span in, char *out, size_t room, size_t *used, size_t *made)
{
	switch (inflate_whole(self, codec, in, out, room, used, made)) {
	case LIBDEFLATE_SUCCESS: return PD_OK;
	case LIBDEFLATE_INSUFFICIENT_SPACE: return PD_ERR_LIMIT;
	default: return PD_ERR_INPUT;
	}
}

static void start(void *self, enum pd_codec codec)
{
	struct deflate *d = self;
	int window = codec == PD_CODEC_GZIP ? 15 + 16 : codec == PD_CODEC_ZLIB ? 15 : -15;
	if (d->z_ready) {
		inflateReset2(&d->z, window);
		return;
	}
	if (inflateInit2(&d->z, window) != Z_OK)
		pd_out_of_memory();
	d->z_ready = true;
}

static int feed(void *self, struct pd_span *in, char *out, size_t room, size_t *made)
{
	struct deflate *d = self;
	size_t take = in->n < UINT32_MAX ? in->n : UINT32_MAX;
	d->z.next_in = (Bytef *)in->p;
	d->z.avail_in = (uInt)take;
	d->z.next_out = (Bytef *)out;
	d->z.avail_out = (uInt)room;
	int r = inflate(&d->z, Z_NO_FLUSH);
	if (r == Z_MEM_ERROR)	/* its window is asked for late */
		pd_out_of_memory();
	size_t used = take - d->z.avail_in;
	if (used)
		in->p += used;
	in->n -= used;
	*made = room - d->z.avail_out;
	if (r == Z_STREAM_END)
		return 1;
	return r == Z_OK || r == Z_BUF_ERROR ? 0 : PD_ERR_INPUT;
}

const struct pd_codec_ops pd_codec_deflate = { open_deflate, close_deflate, whole, start, feed };

/* --- compression --- */

static void *open_pack(void)
{
	z_stream *z = pd_zalloc(sizeof *z);
	if (deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		pd_out_of_memory();
	return z;
}

static void close_pack(void *self)
{
	deflateEnd(self);
	free(self);
}

static void start_pack(void *self)
{
	deflateReset(self);
}

static bool pack(void *self, struct pd_span *in, bool end, char *out, size_t room, size_t *made)
{
	z_stream *z = self;
	z->next_in = (Bytef *)in->p;
	z->avail_in = (uInt)in->n;
	z->next_out = (Bytef *)out;
	z->avail_out = (uInt)room;
	int r = deflate(z, end ? Z_FINISH : Z_NO_FLUSH);
	*made = room - z->avail_out;
	*in = pd_span((const char *)z->next_in, z->avail_in);
	return end ? r == Z_STREAM_END : !in->n;
}

const struct pd_pack_ops pd_pack_gzip = { open_pack, close_pack, start_pack, pack };
