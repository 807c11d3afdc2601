/* SPDX-License-Identifier: MIT
 *
 * After damage in a compressed dump: which bytes begin a gzip member again?  The magic bytes may stand anywhere, so a
 * place counts only when what it inflates to begins with "WARC/".  Looking starts one byte behind the start of the
 * broken member, as far back as the input remembers: a decoder that lost its way may have run over several good
 * members before it noticed.
 */
#include "read/member.h"

/* PROBE: compressed bytes that are enough to see the first few; STRIKES: see `from`. */
enum { PROBE = 1024, SCAN = 1 << 16, STRIKES = 16 };

struct pd_span pd_member_head(struct pd_member *m, struct pd_span s, size_t room)
{
	pd_buf_clear(&m->probe);
	pd_unpack_start(m->unpacker, PD_CODEC_GZIP);
	while (m->probe.n < room) {
		size_t had = m->probe.n, left = s.n;
		if (pd_unpack_feed(m->unpacker, &s, room - had, &m->probe) || (m->probe.n == had && s.n == left))
			break;
	}
	return pd_buf_span(&m->probe);
}

static bool begins_record(struct pd_member *m, struct pd_span s)
{
	if (!pd_looks_gzip(s))
		return false;
	if (s.n > PROBE)
		s.n = PROBE;
	struct pd_span head = pd_span_trim(pd_member_head(m, s, 32));
	return head.n >= 5 && memcmp(head.p, "WARC/", 5) == 0;
}

ptrdiff_t pd_member_find(struct pd_member *m, struct pd_span s, size_t from)
{
	while (from < s.n) {
		const char *at = memmem(s.p + from, s.n - from, "\x1f\x8b\x08", 3);
		if (!at)
			break;
		from = (size_t)(at - s.p);
		if (begins_record(m, pd_span(at, s.n - from)))
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
}

void pd_member_resync(struct pd_member *m)
{
	struct pd_input *in = m->in;
	back(m);
	m->state = PD_MEMBER_ENDED;
	for (;;) {
		struct pd_span s = pd_input_peek(in, SCAN);
		ptrdiff_t at = pd_member_find(m, s, 0);
		if (at >= 0) {
			pd_input_skip(in, (size_t)at);
			return;
		}
		/* What stands at the very end of the window was not seen whole. */
		size_t tail = in->end ? 0 : PROBE;
		pd_input_skip(in, s.n - tail);
		if (in->end)
			return;
	}
}
