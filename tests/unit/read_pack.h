/* SPDX-License-Identifier: MIT
 *
 * Compression for the tests of src/base/codec and src/read: one member of any codec.
 */
#ifndef PD_TEST_READ_PACK_H
#define PD_TEST_READ_PACK_H

#include "read_dumps.h"

#include <brotli/encode.h>
#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zdict.h>
#include <zstd.h>

#include "base/codec.h"

static inline void pack_deflate(struct pd_buf *out, struct pd_span in, int window)
{
	z_stream z = { 0 };
	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
	size_t room = deflateBound(&z, in.n) + 64;
	z.next_in = (Bytef *)in.p;
	z.avail_in = (uInt)in.n;
	z.next_out = (Bytef *)pd_buf_reserve(out, room);
	z.avail_out = (uInt)room;
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->n += room - z.avail_out;
	deflateEnd(&z);
}

static inline void pack_zstd(struct pd_buf *out, struct pd_span in, struct pd_span dictionary)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(in.n);
	ck_assert(!ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1)));
	if (dictionary.n)
		ck_assert(!ZSTD_isError(ZSTD_CCtx_loadDictionary(c, dictionary.p, dictionary.n)));
	size_t n = ZSTD_compress2(c, pd_buf_reserve(out, room), room, in.p ? in.p : "", in.n);
	ck_assert_msg(!ZSTD_isError(n), "zstd");
	out->n += n;
	ZSTD_freeCCtx(c);
}

static inline void pack_lz4(struct pd_buf *out, struct pd_span in)
{
	LZ4F_preferences_t p = { .frameInfo = { .contentChecksumFlag = LZ4F_contentChecksumEnabled,
						.blockChecksumFlag = LZ4F_blockChecksumEnabled } };
	size_t room = LZ4F_compressFrameBound(in.n, &p);
	size_t n = LZ4F_compressFrame(pd_buf_reserve(out, room), room, in.p ? in.p : "", in.n, &p);
	ck_assert(!LZ4F_isError(n));
	out->n += n;
}

static inline void pack_brotli(struct pd_buf *out, struct pd_span in)
{
	size_t n = BrotliEncoderMaxCompressedSize(in.n) + 64;
	ck_assert(
		BrotliEncoderCompress(5, 22, BROTLI_MODE_TEXT, in.n, (const uint8_t *)in.p, &n, (uint8_t *)pd_buf_reserve(out, n)));
	out->n += n;
}

static inline void pack_xz(struct pd_buf *out, struct pd_span in)
{
	size_t room = lzma_stream_buffer_bound(in.n), n = 0;
	ck_assert(lzma_easy_buffer_encode(2, LZMA_CHECK_CRC32, NULL, (const uint8_t *)in.p, in.n,
					  (uint8_t *)pd_buf_reserve(out, room), &n, room) == LZMA_OK);
	out->n += n;
}

static inline void pack_bzip2(struct pd_buf *out, struct pd_span in)
{
	unsigned n = (unsigned)(in.n + in.n / 100 + 600);
	ck_assert(BZ2_bzBuffToBuffCompress(pd_buf_reserve(out, n), &n, in.p ? (char *)in.p : (char *)"", (unsigned)in.n, 1, 0, 0) ==
		  BZ_OK);
	out->n += n;
}

/* Appends one member. */
static inline void pack(struct pd_buf *out, enum pd_codec codec, struct pd_span in)
{
	switch (codec) {
	case PD_CODEC_GZIP: pack_deflate(out, in, 15 + 16); break;
	case PD_CODEC_ZLIB: pack_deflate(out, in, 15); break;
	case PD_CODEC_DEFLATE: pack_deflate(out, in, -15); break;
	case PD_CODEC_ZSTD: pack_zstd(out, in, pd_span(NULL, 0)); break;
	case PD_CODEC_LZ4: pack_lz4(out, in); break;
	case PD_CODEC_BROTLI: pack_brotli(out, in); break;
	case PD_CODEC_XZ: pack_xz(out, in); break;
	case PD_CODEC_BZIP2: pack_bzip2(out, in); break;
	default: pd_buf_add_span(out, in);
	}
}

/* A skippable frame 0x184D2A50 + `type`. */
static inline void pack_skippable(struct pd_buf *out, int type, struct pd_span content)
{
	unsigned char head[8] = { (unsigned char)(0x50 + type), 0x2a, 0x4d, 0x18 };
	for (int i = 0; i < 4; i++)
		head[4 + i] = (unsigned char)(content.n >> 8 * i);
	pd_buf_add(out, head, 8);
	pd_buf_add_span(out, content);
}

/* A dictionary in zstd's format, trained on pages. */
static inline void pack_train(struct pd_buf *out)
{
	struct pd_buf all = { 0 };
	size_t sizes[300], had = 0;
	for (int i = 0; i < 300; i++) {
		dump_page(&all, i);
		sizes[i] = all.n - had;
		had = all.n;
	}
	size_t n = ZDICT_trainFromBuffer(pd_buf_reserve(out, 8192), 8192, all.p, sizes, 300);
	ck_assert_msg(!ZDICT_isError(n), "%s", ZDICT_getErrorName(n));
	out->n += n;
	pd_buf_release(&all);
}

#endif
