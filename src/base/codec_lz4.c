/* SPDX-License-Identifier: MIT
 * lz4 frames.  The only place that includes liblz4. */
#include <lz4frame.h>
#include <stdlib.h>

#include "base/codec_ops.h"

static void *open_lz4(void)
{
	LZ4F_dctx *d;
	if (LZ4F_isError(LZ4F_createDecompressionContext(&d, LZ4F_VERSION)))
		pd_out_of_memory();
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
		/* The header has the numbers of errors for static linking alone; the name is for everybody. */
		if (!strcmp(LZ4F_getErrorName(r), "ERROR_allocation_failed"))
			pd_out_of_memory();
		*made = 0;
		return PD_ERR_INPUT;
	}
	in->p += used;
	in->n -= used;
	return r == 0;
}

const struct pd_codec_ops pd_codec_lz4 = { open_lz4, close_lz4, NULL, start, feed };

/* --- compression --- */

struct lz4_pack {
	LZ4F_cctx *c;
	bool begun;
};

static void *open_pack(void)
{
	struct lz4_pack *p = pd_zalloc(sizeof *p);
	if (LZ4F_isError(LZ4F_createCompressionContext(&p->c, LZ4F_VERSION)))
		pd_out_of_memory();
	return p;
}

static void close_pack(void *self)
{
	struct lz4_pack *p = self;
	LZ4F_freeCompressionContext(p->c);
	free(p);
}

static void start_pack(void *self)
{
	struct lz4_pack *p = self;
	p->begun = false;
}

/* Independent blocks of 64 KiB, so that little is held back, and a checksum over the content. */
static size_t begin_pack(struct lz4_pack *p, char *out, size_t room)
{
	LZ4F_preferences_t how = { .frameInfo = { .blockSizeID = LZ4F_max64KB,
						  .blockMode = LZ4F_blockIndependent,
						  .contentChecksumFlag = LZ4F_contentChecksumEnabled } };
	p->begun = true;
	return LZ4F_compressBegin(p->c, out, room, &how);
}

static bool pack(void *self, struct pd_span *in, bool end, char *out, size_t room, size_t *made)
{
	struct lz4_pack *p = self;
	size_t head = p->begun ? 0 : begin_pack(p, out, room), n = 0;
	if (!LZ4F_isError(head) && in->n)
		n = LZ4F_compressUpdate(p->c, out + head, room - head, in->p, in->n, NULL);
	else if (!LZ4F_isError(head) && end)
		n = LZ4F_compressEnd(p->c, out + head, room - head, NULL);
	if (LZ4F_isError(head) || LZ4F_isError(n))	/* no memory: the room is enough by the contract */
		pd_out_of_memory();
	*made = head + n;
	in->n = 0;
	return true;
}

const struct pd_pack_ops pd_pack_lz4 = { open_pack, close_pack, start_pack, pack };
