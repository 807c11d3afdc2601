/* SPDX-License-Identifier: MIT
 *
 * The window and the two ways into it.
 */
#include "read/member.h"

/* The fast way: tried on 256 KiB, then on 1 MiB of input, and up to 8 MiB of output. */
enum { WHOLE_MIN = 1 << 18, WHOLE_OUT = 1 << 23, PIECE = 1 << 18 };

void pd_member_init(struct pd_member *m)
{
	*m = (struct pd_member){ .unpacker = pd_unpacker_new(), .whole_max = PD_INPUT_WINDOW };
}

void pd_member_release(struct pd_member *m)
{
	pd_unpacker_free(m->unpacker);
	pd_buf_release(&m->out);
	pd_buf_release(&m->probe);
}

void pd_member_open(struct pd_member *m, struct pd_input *in, bool gzip)
{
	m->in = in;
	m->gzip = gzip;
	m->begun = false;
	pd_buf_clear(&m->out);
	m->at = 0;
	m->offset = m->start = m->reached = 0;
	m->state = PD_MEMBER_ENDED;
	m->reason = NULL;
	m->strikes = 0;
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
		int r = pd_unpack_whole(m->unpacker, PD_CODEC_GZIP, s, WHOLE_OUT, &m->out, &used);
		if (r == PD_OK) {
			pd_input_skip(m->in, used);
			return true;
		}
		m->out.n = had;
		if (r == PD_ERR_LIMIT || m->in->end || s.n >= m->whole_max)
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
	bool cut = s.n < 4 && memcmp(s.p, "\x1f\x8b\x08", s.n < 3 ? s.n : 3) == 0;
	m->reason = cut ? "gzip member cut by the end of the file" : "junk where a gzip member should begin";
	return PD_ERR_INPUT;
}

int pd_member_next(struct pd_member *m)
{
	if (!m->gzip) {
		bool first = !m->begun;
		m->begun = true;
		return first;
	}
	compact(m);
	skip_zeroes(m->in);
	struct pd_span s = pd_input_peek(m->in, 16);
	if (!s.n)
		return 0;
	if (!pd_looks_gzip(s))
		return none_here(m, s);
	m->start = m->in->offset;
	m->state = PD_MEMBER_ENDED;
	if (!whole(m)) {
		pd_unpack_start(m->unpacker, PD_CODEC_GZIP);
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
	else if (r < 0)
		broken(m, "damaged gzip member");
	else if (!had && m->out.n == made)
		broken(m, "gzip member cut by the end of the file");
}

struct pd_span pd_member_peek(struct pd_member *m, size_t want)
{
	if (!m->gzip) {
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
	if (!m->gzip) {
		pd_input_skip(m->in, n);
		return;
	}
	m->at += n;
	m->offset += n;
}

uint64_t pd_member_offset(const struct pd_member *m)
{
	return m->gzip ? m->offset : m->in->offset;
}
