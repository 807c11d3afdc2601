/* SPDX-License-Identifier: MIT
 * zstd frames, with or without a dictionary.  The only place that includes libzstd. */
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/codec.h"

/* The largest window that the zstd program takes without being asked to; a frame that wants more is refused. */
enum { WINDOW_LOG = 27 };

static void *open_zstd(void)
{
	ZSTD_DCtx *d = pd_have(ZSTD_createDCtx());
	ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, WINDOW_LOG);
	return d;
}

static void close_zstd(void *self)
{
	ZSTD_freeDCtx(self);
}

/* A damaged frame, but for `limit`; no memory is not the frame's fault. */
static int failed(size_t r, ZSTD_ErrorCode limit)
{
	if (ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation)
		pd_out_of_memory();
	return ZSTD_getErrorCode(r) == limit ? PD_ERR_LIMIT : PD_ERR_INPUT;
}

static int whole(void *self, enum pd_codec codec, struct pd_span in, char *out, size_t room, size_t *used, size_t *made)
{
	size_t frame = ZSTD_findFrameCompressedSize(in.p, in.n);
	if (ZSTD_isError(frame))
		return PD_ERR_INPUT;
	size_t r = ZSTD_decompressDCtx(self, out, room, in.p, frame);
	if (ZSTD_isError(r))
		return failed(r, ZSTD_error_dstSize_tooSmall);
	*used = frame;
	*made = r;
	return PD_OK;
}

static void start(void *self, enum pd_codec codec)
{
	ZSTD_DCtx_reset(self, ZSTD_reset_session_only);
}

static int feed(void *self, struct pd_span *in, char *out, size_t room, size_t *made)
{
	ZSTD_inBuffer from = { in->p, in->n, 0 };
	ZSTD_outBuffer to = { out, room, 0 };
	size_t r = ZSTD_decompressStream(self, &to, &from);
	if (from.pos)
		in->p += from.pos;
	in->n -= from.pos;
	*made = to.pos;
	if (ZSTD_isError(r))
		return failed(r, ZSTD_error_frameParameter_windowTooLarge);
	return r == 0;
}

bool pd_codec_zstd_dictionary(void *self, struct pd_span dictionary)
{
	ZSTD_DCtx_reset(self, ZSTD_reset_session_only);
	size_t r = ZSTD_DCtx_loadDictionary(self, dictionary.n ? dictionary.p : NULL, dictionary.n);
	/* zstd says so of a dictionary that is damaged, too: there is memory when as much as it takes can be had. */
	if (ZSTD_isError(r) && ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation)
		free(pd_alloc(dictionary.n + (1 << 18)));
	return !ZSTD_isError(r);
}

const struct pd_codec_ops pd_codec_zstd = { open_zstd, close_zstd, whole, start, feed };

/* Measured on rows of the store: higher levels save little and cost much. */
enum { LEVEL = 1 };

struct pd_zstd_packer {
	ZSTD_CCtx *c;
};

struct pd_zstd_packer *pd_zstd_packer_new(void)
{
	struct pd_zstd_packer *p = pd_zalloc(sizeof *p);
	p->c = pd_have(ZSTD_createCCtx());
	return p;
}

void pd_zstd_packer_free(struct pd_zstd_packer *p)
{
	if (p)
		ZSTD_freeCCtx(p->c);
	free(p);
}

void pd_zstd_pack(struct pd_zstd_packer *p, struct pd_span in, struct pd_buf *out)
{
	size_t room = ZSTD_compressBound(in.n);
	size_t n = ZSTD_compressCCtx(p->c, pd_buf_reserve(out, room), room, in.p, in.n, LEVEL);
	if (ZSTD_isError(n))	/* the room suffices: only memory can fail */
		pd_out_of_memory();
	out->n += n;
	out->p[out->n] = 0;
}
/* --- compression --- */

static void *open_pack(void)
{
	ZSTD_CCtx *c = pd_have(ZSTD_createCCtx());
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	return c;
}

static void close_pack(void *self)
{
	ZSTD_freeCCtx(self);
}

static void start_pack(void *self)
{
	ZSTD_CCtx_reset(self, ZSTD_reset_session_only);
}

static bool pack(void *self, struct pd_span *in, bool end, char *out, size_t room, size_t *made)
{
	ZSTD_inBuffer from = { in->p, in->n, 0 };
	ZSTD_outBuffer to = { out, room, 0 };
	size_t left = ZSTD_compressStream2(self, &to, &from, end ? ZSTD_e_end : ZSTD_e_continue);
	if (ZSTD_isError(left))	/* no memory: nothing else can go wrong here */
		pd_out_of_memory();
	*made = to.pos;
	*in = pd_span(in->p + from.pos, in->n - from.pos);
	return end ? !left : !in->n;
}

const struct pd_pack_ops pd_pack_zstd = { open_pack, close_pack, start_pack, pack };
