/* SPDX-License-Identifier: MIT
 *
 * The window and the two ways into it.
 */
#include "read/member.h"

#include "base/err.h"

/* The fast way: tried on 256 KiB, then on 1 MiB of input, and up to 8 MiB of output. */
enum { WHOLE_MIN = 1 << 18, WHOLE_OUT = 1 << 23, PIECE = 1 << 18 };

void pd_member_init(struct pd_member *m)
{
	*m = (struct pd_member){ .whole_max = PD_INPUT_WINDOW };
	m->unpacker = pd_unpacker_new();
	m->prober = pd_unpacker_new();
}

void pd_member_release(struct pd_member *m)
{
	pd_unpacker_free(m->unpacker);
	pd_unpacker_free(m->prober);
	pd_buf_release(&m->out);
	pd_buf_release(&m->probe);
}

void pd_member_open(struct pd_member *m, struct pd_input *in, enum pd_codec codec)
{
	m->in = in;
	m->codec = codec;
	m->begun = false;
	pd_buf_clear(&m->out);
	m->at = 0;
	m->offset = m->start = m->start_offset = m->reached = m->probed = 0;
	m->state = PD_MEMBER_ENDED;
	m->reason = NULL;
	m->strikes = 0;
}

const struct pd_member_words *pd_member_words(const struct pd_member *m)
{
	static const struct pd_member_words words[PD_CODECS] = {
		[PD_CODEC_GZIP] = { "gzip member cut by the end of the file", "damaged gzip member",
				    "junk where a gzip member should begin", "record cut by the end of its gzip member",
				    "record cut by junk between gzip members" },
		[PD_CODEC_ZSTD] = { "zstd frame cut by the end of the file", "damaged zstd frame",
				    "junk where a zstd frame should begin", "record cut by the end of its zstd frame",
				    "record cut by junk between zstd frames" },
		[PD_CODEC_LZ4] = { "lz4 frame cut by the end of the file", "damaged lz4 frame",
				   "junk where an lz4 frame should begin", "record cut by the end of its lz4 frame",
				   "record cut by junk between lz4 frames" },
	};
	return &words[m->codec];
}

enum pd_codec pd_member_codec(struct pd_span head)
{
	static const enum pd_codec codecs[] = { PD_CODEC_ZSTD, PD_CODEC_LZ4 };
	if (pd_looks_gzip(head))
		return PD_CODEC_GZIP;
	/* A dictionary is found in .warc.zst alone, other skippable frames are zstd's as well as lz4's. */
	if (head.n >= 4 && memcmp(head.p, "\x5d\x2a\x4d\x18", 4) == 0)
		return PD_CODEC_ZSTD;
	while (pd_looks_skippable(head) && head.n >= 8) {
		const unsigned char *b = (const unsigned char *)head.p + 4;
		size_t n = 8 + (b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24);
		if (n > head.n)
			return PD_CODEC_ZSTD;
		head = pd_span(head.p + n, head.n - n);
	}
	for (int i = 0; i < 2; i++)
		if (pd_looks_packed(codecs[i], head))
			return codecs[i];
	return PD_CODEC_NONE;
}

/* Moves what is left to the front; only when that is less than what is gone, so that a byte moves once at most. */
static void compact(struct pd_member *m)
{
	size_t left = m->out.n - m->at;
	if (left > m->at)
		return;
	if (left)
		memmove(m->out.p, m->out.p + m->at, left);
	m->out.n = left;
	m->at = 0;
}

static bool whole(struct pd_member *m)
{
	size_t had = m->out.n;
	for (size_t want = WHOLE_MIN; m->whole_max; want = m->whole_max) {
		struct pd_span s = pd_input_peek(m->in, want);
		size_t used;
		int r = pd_unpack_whole(m->unpacker, m->codec, s, WHOLE_OUT, &m->out, &used);
		if (r == PD_OK) {
			pd_input_skip(m->in, used);
			return true;
		}
		m->out.n = had;
		if (r != PD_ERR_INPUT || m->in->end || s.n >= m->whole_max)
			break;
	}
	return false;
}

static void skip_zeroes(struct pd_input *in)
{
	for (;;) {
		struct pd_span s = pd_input_peek(in, 1);
		size_t i = 0;
		while (i < s.n && !s.p[i])
			i++;
		pd_input_skip(in, i);
		if (i < s.n || !s.n)
			return;
	}
}

static int none_here(struct pd_member *m, struct pd_span s)
{
	struct pd_span magic = pd_codec_magic(m->codec);
	bool cut = s.n < 4 && memcmp(s.p, magic.p, s.n < magic.n ? s.n : magic.n) == 0;
	m->reason = cut ? pd_member_words(m)->cut : pd_member_words(m)->junk;
	return PD_ERR_INPUT;
}

int pd_member_next(struct pd_member *m)
{
	if (!pd_member_packed(m)) {
		bool first = !m->begun;
		m->begun = true;
		return first;
	}
	compact(m);
	skip_zeroes(m->in);
	struct pd_span s = pd_input_peek(m->in, 16);
	if (!s.n)
		return 0;
	if (!pd_looks_packed(m->codec, s))
		return none_here(m, s);
	m->start = m->in->offset;
	m->start_offset = m->offset + (m->out.n - m->at);
	m->state = PD_MEMBER_ENDED;
	if (!whole(m)) {
		pd_unpack_start(m->unpacker, m->codec);
		m->state = PD_MEMBER_MORE;
	}
	return 1;
}

static void broken(struct pd_member *m, const char *reason)
{
	m->state = PD_MEMBER_BROKEN;
	m->reason = reason;
}

static void feed(struct pd_member *m)
{
	compact(m);
	struct pd_span s = pd_input_peek(m->in, 1);
	size_t had = s.n, made = m->out.n;
	int r = pd_unpack_feed(m->unpacker, &s, PIECE, &m->out);
	pd_input_skip(m->in, had - s.n);
	if (r == 1)
		m->state = PD_MEMBER_ENDED;
	else if (r == PD_ERR_LIMIT)
		broken(m, "zstd frame with a window over 128 MiB");
	else if (r < 0)
		broken(m, pd_member_words(m)->damaged);
	else if (!had && m->out.n == made)
		broken(m, pd_member_words(m)->cut);
}

struct pd_span pd_member_peek(struct pd_member *m, size_t want)
{
	if (!pd_member_packed(m)) {
		struct pd_span s = pd_input_peek(m->in, want);
		m->state = m->in->end ? PD_MEMBER_ENDED : PD_MEMBER_MORE;
		return s;
	}
	while (m->out.n - m->at < want && m->state == PD_MEMBER_MORE)
		feed(m);
	return pd_span(m->out.p ? m->out.p + m->at : "", m->out.n - m->at);
}

void pd_member_skip(struct pd_member *m, size_t n)
{
	if (!pd_member_packed(m)) {
		pd_input_skip(m->in, n);
		return;
	}
	m->at += n;
	m->offset += n;
}

uint64_t pd_member_offset(const struct pd_member *m)
{
	return pd_member_packed(m) ? m->offset : m->in->offset;
}
