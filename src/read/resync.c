/* SPDX-License-Identifier: MIT
 *
 * After damage in a compressed dump: which bytes begin a member again?  The magic bytes may stand anywhere, so a place
 * counts only when what it unpacks to begins as a record does.  Looking starts one byte behind the start of the broken
 * member, as far back as the input remembers: a decoder that lost its way may have run over several good members before
 * it noticed.
 */
#include "base/err.h"
#include "read/member.h"

/* HEAD: unpacked bytes by which the start of a record is known; STRIKES: see `back`. */
enum { HEAD = 4096, STRIKES = 16 };

/* Compressed bytes that are enough to see the head.  zstd and lz4 give nothing before a block is complete, and a file
 * that is full of magic bytes must not make us look at everything over and over: then blocks may be short only. */
static size_t probe_size(const struct pd_member *m)
{
	if (m->codec == PD_CODEC_GZIP || m->probed > 32 * m->in->taken)
		return 1 << 10;
	return m->codec == PD_CODEC_ZSTD ? (1 << 17) + 64 : 1 << 19;
}

static struct pd_span head_of(struct pd_member *m, struct pd_span s)
{
	if (s.n > probe_size(m))
		s.n = probe_size(m);
	m->probed += s.n;
	pd_buf_clear(&m->probe);
	pd_unpack_start(m->prober, m->codec);
	while (m->probe.n < HEAD) {
		size_t had = m->probe.n, left = s.n;
		if (pd_unpack_feed(m->prober, &s, HEAD - had, &m->probe) || (m->probe.n == had && s.n == left))
			break;
	}
	struct pd_span head = pd_buf_span(&m->probe);
	while (head.n && pd_ascii_space(head.p[0]))
		head = pd_span(head.p + 1, head.n - 1);
	return head;
}

ptrdiff_t pd_member_find(struct pd_member *m, struct pd_span s, size_t from)
{
	struct pd_span magic = pd_codec_magic(m->codec);
	while (from < s.n) {
		const char *at = memmem(s.p + from, s.n - from, magic.p, magic.n);
		if (!at)
			break;
		from = (size_t)(at - s.p);
		struct pd_span rest = pd_span(at, s.n - from);
		if (pd_looks_packed(m->codec, rest) && m->begins(head_of(m, rest)))
			return (ptrdiff_t)from;
		from++;
	}
	return -1;
}

/* Going back costs reading twice.  A hostile file could make us do so at every byte: members that break over and over
 * before the same point make us go on from that point instead. */
static void back(struct pd_member *m)
{
	struct pd_input *in = m->in;
	if (m->state != PD_MEMBER_BROKEN)
		return;
	m->strikes = m->start < m->reached ? m->strikes + 1 : 0;
	if (in->offset > m->reached)
		m->reached = in->offset;
	if (m->strikes <= STRIKES)
		pd_input_back(in, m->start + 1);
	/* A decoder may give up before it has taken a byte: the same member must not be found again. */
	if (in->offset <= m->start)
		pd_input_skip(in, (size_t)(m->start + 1 - in->offset));
}

void pd_member_resync(struct pd_member *m)
{
	struct pd_input *in = m->in;
	back(m);
	m->state = PD_MEMBER_ENDED;
	for (;;) {
		struct pd_span s = pd_input_peek(in, m->codec == PD_CODEC_GZIP ? 1 << 16 : PD_INPUT_WINDOW);
		ptrdiff_t at = pd_member_find(m, s, 0);
		if (at >= 0) {
			pd_input_skip(in, (size_t)at);
			return;
		}
		/* What stands at the very end of the window was not seen whole. */
		size_t tail = in->end ? 0 : probe_size(m);
		pd_input_skip(in, s.n - tail);
		if (in->end)
			return;
	}
}
