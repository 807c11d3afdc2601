/* SPDX-License-Identifier: MIT
 *
 * One table of codecs and what they have in common: rooms, limits, several members in a row.
 */
#include "base/codec.h"

#include <stdlib.h>

#include "base/codec_ops.h"

enum { FIRST_ROOM = 256 * 1024, PIECE = 256 * 1024 };

enum library { DEFLATE, ZSTD, LZ4, BROTLI, LIBRARIES };

static const struct pd_codec_ops *const libraries[LIBRARIES] = {
	[DEFLATE] = &pd_codec_deflate, [ZSTD] = &pd_codec_zstd, [LZ4] = &pd_codec_lz4, [BROTLI] = &pd_codec_brotli,
};

static const struct {
	enum library library;
	const char *magic;	/* "": none */
	bool repeats;		/* members may follow each other */
	bool skippable;		/* … and skippable frames */
} codecs[PD_CODECS] = {
	[PD_CODEC_NONE] = { LIBRARIES, "", false, false },
	[PD_CODEC_GZIP] = { DEFLATE, "\x1f\x8b\x08", true, false },
	[PD_CODEC_ZLIB] = { DEFLATE, "", false, false },
	[PD_CODEC_DEFLATE] = { DEFLATE, "", false, false },
	[PD_CODEC_ZSTD] = { ZSTD, "\x28\xb5\x2f\xfd", true, true },
	[PD_CODEC_LZ4] = { LZ4, "\x04\x22\x4d\x18", true, true },
	[PD_CODEC_BROTLI] = { BROTLI, "", false, false },
};

struct pd_unpacker {
	void *self[LIBRARIES];		/* NULL until first wanted */
	enum library streaming;
};

struct pd_unpacker *pd_unpacker_new(void)
{
	return pd_zalloc(sizeof(struct pd_unpacker));
}

void pd_unpacker_free(struct pd_unpacker *u)
{
	for (int i = 0; u && i < LIBRARIES; i++)
		if (u->self[i])
			libraries[i]->close(u->self[i]);
	free(u);
}

static void *self(struct pd_unpacker *u, enum library l)
{
	if (!u->self[l])
		u->self[l] = libraries[l]->open();
	return u->self[l];
}

bool pd_unpacker_dictionary(struct pd_unpacker *u, struct pd_span dictionary)
{
	return pd_codec_zstd_dictionary(self(u, ZSTD), dictionary);
}

int pd_unpack_whole(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out,
		    size_t *used)
{
	const struct pd_codec_ops *ops = libraries[codecs[codec].library];
	/* What is there already is room too: a warm buffer seldom grows. */
	size_t room = out->cap > out->n + 1 ? out->cap - out->n - 1 : 0;
	if (!ops->whole)
		return PD_ERR_USAGE;
	if (room < FIRST_ROOM)
		room = FIRST_ROOM;
	for (;;) {
		size_t made = 0;
		if (room > limit)
			room = limit;
		char *at = pd_buf_reserve(out, room);
		int r = ops->whole(self(u, codecs[codec].library), codec, in, at, room, used, &made);
		if (r == PD_OK) {
			out->n += made;
			out->p[out->n] = 0;
		}
		if (r != PD_ERR_LIMIT || room == limit)
			return r;
		room *= 4;
	}
}

void pd_unpack_start(struct pd_unpacker *u, enum pd_codec codec)
{
	u->streaming = codecs[codec].library;
	libraries[u->streaming]->start(self(u, u->streaming), codec);
}

int pd_unpack_feed(struct pd_unpacker *u, struct pd_span *in, size_t room, struct pd_buf *out)
{
	size_t made = 0, want = room < PIECE ? room : PIECE;
	char *at = pd_buf_reserve(out, want);
	int r = libraries[u->streaming]->feed(u->self[u->streaming], in, at, want, &made);
	out->n += made;
	out->p[out->n] = 0;
	return r;
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
		/* A window that is too large is damage here: only the caller's limit is PD_ERR_LIMIT. */
		if (r)
			return r == PD_ERR_LIMIT ? PD_ERR_INPUT : r;
		if (in->n == left && out->n == had)
			return PD_ERR_TRUNCATED;
	}
}

int pd_unpack_all(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t limit, struct pd_buf *out)
{
	size_t end = out->n + limit;
	/* libzstd also reads formats of its own past, each with a decoder of its own: not ours. */
	if (pd_codec_magic(codec).n && in.n >= 4 && !pd_looks_packed(codec, in))
		return PD_ERR_INPUT;
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
	} while (codecs[codec].repeats && pd_looks_packed(codec, in));
	return PD_OK;
}

bool pd_looks_gzip(struct pd_span in)
{
	return in.n >= 4 && (uint8_t)in.p[0] == 0x1f && (uint8_t)in.p[1] == 0x8b && in.p[2] == 8 &&
	       !((uint8_t)in.p[3] & 0xe0);
}

bool pd_looks_skippable(struct pd_span in)
{
	return in.n >= 4 && ((uint8_t)in.p[0] & 0xf0) == 0x50 && memcmp(in.p + 1, "\x2a\x4d\x18", 3) == 0;
}

struct pd_span pd_codec_magic(enum pd_codec codec)
{
	return pd_span_z(codecs[codec].magic);
}

bool pd_looks_packed(enum pd_codec codec, struct pd_span in)
{
	struct pd_span magic = pd_codec_magic(codec);
	if (codec == PD_CODEC_GZIP)
		return pd_looks_gzip(in);
	if (codecs[codec].skippable && pd_looks_skippable(in))
		return true;
	return magic.n && in.n >= magic.n && memcmp(in.p, magic.p, magic.n) == 0;
}
