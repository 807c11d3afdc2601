/* SPDX-License-Identifier: MIT */
#include "base/pack.h"

#include <stdlib.h>

#include "base/codec_ops.h"

/* Input goes in pieces that bound the room which every codec asks for. */
enum { PIECE = 64 * 1024, ROOM = 256 * 1024 };

static const struct pd_pack_ops *const packs[PD_CODECS] = {
	[PD_CODEC_GZIP] = &pd_pack_gzip,
	[PD_CODEC_ZSTD] = &pd_pack_zstd,
	[PD_CODEC_LZ4] = &pd_pack_lz4,
};

struct pd_packer {
	void *self[PD_CODECS];		/* NULL until first wanted */
	enum pd_codec codec;
};

struct pd_packer *pd_packer_new(void)
{
	return pd_zalloc(sizeof(struct pd_packer));
}

void pd_packer_free(struct pd_packer *p)
{
	for (int i = 0; p && i < PD_CODECS; i++)
		if (p->self[i])
			packs[i]->close(p->self[i]);
	free(p);
}

void pd_pack_start(struct pd_packer *p, enum pd_codec codec)
{
	p->codec = codec;
	if (!packs[codec])
		return;
	if (!p->self[codec])
		p->self[codec] = packs[codec]->open();
	packs[codec]->start(p->self[codec]);
}

static void step(struct pd_packer *p, struct pd_span in, bool end, struct pd_buf *out)
{
	bool done = false;
	while (!done) {
		size_t made = 0;
		char *at = pd_buf_reserve(out, ROOM);
		done = packs[p->codec]->pack(p->self[p->codec], &in, end, at, ROOM, &made);
		out->n += made;
		out->p[out->n] = 0;
	}
}

void pd_pack_feed(struct pd_packer *p, struct pd_span in, struct pd_buf *out)
{
	if (!packs[p->codec]) {
		pd_buf_add_span(out, in);
		return;
	}
	while (in.n) {
		size_t n = in.n < PIECE ? in.n : PIECE;
		step(p, pd_span(in.p, n), false, out);
		in = pd_span(in.p + n, in.n - n);
	}
}

void pd_pack_end(struct pd_packer *p, struct pd_buf *out)
{
	if (packs[p->codec])
		step(p, pd_span("", 0), true, out);
}
