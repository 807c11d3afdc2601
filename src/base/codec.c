/* SPDX-License-Identifier: MIT
 * The only place that includes zlib and libdeflate. */
#include "base/codec.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/err.h"

enum { FIRST_ROOM = 256 * 1024, PIECE = 256 * 1024 };

struct pd_unpacker {
	struct libdeflate_decompressor *whole;
	z_stream z;
	bool z_ready;
};

struct pd_unpacker *pd_unpacker_new(void)
{
	struct pd_unpacker *u = pd_zalloc(sizeof *u);
	u->whole = libdeflate_alloc_decompressor();
	if (!u->whole)
		abort();
	return u;
}

void pd_unpacker_free(struct pd_unpacker *u)
{
	if (!u)
		return;
	libdeflate_free_decompressor(u->whole);
	if (u->z_ready)
		inflateEnd(&u->z);
	free(u);
}

static enum libdeflate_result whole(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, char *out, size_t room,
				    size_t *used, size_t *made)
{
	switch (codec) {
	case PD_CODEC_GZIP: return libdeflate_gzip_decompress_ex(u->whole, in.p, in.n, out, room, used, made);
	case PD_CODEC_ZLIB: return libdeflate_zlib_decompress_ex(u->whole, in.p, in.n, out, room, used, made);
	case PD_CODEC_DEFLATE: return libdeflate_deflate_decompress_ex(u->whole, in.p, in.n, out, room, used, made);
	}
	return LIBDEFLATE_BAD_DATA;
}

int pd_unpack_whole(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out,
		    size_t *used)
{
	/* What is there already is room too: a warm buffer seldom grows. */
	size_t room = out->cap > out->n + 1 ? out->cap - out->n - 1 : 0;
	if (room < FIRST_ROOM)
		room = FIRST_ROOM;
	for (;;) {
		size_t made = 0;
		if (room > limit)
			room = limit;
		char *at = pd_buf_reserve(out, room);
		switch (whole(u, codec, in, at, room, used, &made)) {
		case LIBDEFLATE_SUCCESS:
			out->n += made;
			out->p[out->n] = 0;
			return PD_OK;
		case LIBDEFLATE_INSUFFICIENT_SPACE:
			if (room == limit)
				return PD_ERR_LIMIT;
			room *= 4;
			break;
		default:
			return PD_ERR_INPUT;
		}
	}
}

void pd_unpack_start(struct pd_unpacker *u, enum pd_codec codec)
{
	static const int window[] = { [PD_CODEC_GZIP] = 15 + 16, [PD_CODEC_ZLIB] = 15, [PD_CODEC_DEFLATE] = -15 };
	if (u->z_ready) {
		inflateReset2(&u->z, window[codec]);
		return;
	}
	if (inflateInit2(&u->z, window[codec]) != Z_OK)
		abort();
	u->z_ready = true;
}

int pd_unpack_feed(struct pd_unpacker *u, struct pd_span *in, size_t room, struct pd_buf *out)
{
	size_t take = in->n < UINT32_MAX ? in->n : UINT32_MAX;
	size_t want = room < PIECE ? room : PIECE;
	u->z.next_in = (Bytef *)in->p;
	u->z.avail_in = (uInt)take;
	u->z.next_out = (Bytef *)pd_buf_reserve(out, want);
	u->z.avail_out = (uInt)want;
	int r = inflate(&u->z, Z_NO_FLUSH);
	size_t used = take - u->z.avail_in;
	in->p += used;
	in->n -= used;
	out->n += want - u->z.avail_out;
	out->p[out->n] = 0;
	if (r == Z_STREAM_END)
		return 1;
	return r == Z_OK || r == Z_BUF_ERROR ? 0 : PD_ERR_INPUT;
}

/* One member through the stream, keeping what is good. */
static int stream_member(struct pd_unpacker *u, enum pd_codec codec, struct pd_span *in, size_t end, struct pd_buf *out)
{
	pd_unpack_start(u, codec);
	for (;;) {
		size_t left = in->n, had = out->n;
		if (out->n >= end)
			return PD_ERR_LIMIT;
		int r = pd_unpack_feed(u, in, end - out->n, out);
		if (r)
			return r;
		if (in->n == left && out->n == had)
			return PD_ERR_TRUNCATED;
	}
}

int pd_unpack_all(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out)
{
	size_t end = out->n + limit;
	do {
		size_t used, had = out->n;
		int r = pd_unpack_whole(u, codec, in, end - out->n, out, &used);
		if (r == PD_OK) {
			in.p += used;
			in.n -= used;
			continue;
		}
		out->n = had;
		r = stream_member(u, codec, &in, end, out);
		if (r < 0)
			return r;
	} while (codec == PD_CODEC_GZIP && pd_looks_gzip(in));
	return PD_OK;
}

bool pd_looks_gzip(struct pd_span in)
{
	return in.n >= 4 && (uint8_t)in.p[0] == 0x1f && (uint8_t)in.p[1] == 0x8b && in.p[2] == 8 &&
	       !((uint8_t)in.p[3] & 0xe0);
}
