/* SPDX-License-Identifier: MIT
 * The first byte names a coding, the rest is coded: whole, as a stream, and as a stream in small pieces give the same. */
#include "base/codec.h"
#include "base/err.h"
#include "fuzz.h"

enum { LIMIT = 1 << 18 };

/* In pieces of `piece` bytes with room for `room`; 1 ended, else why not. */
static int stream(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, size_t piece, size_t room, struct pd_buf *out,
		  size_t *used)
{
	const char *start = in.p, *end = in.p + in.n;
	pd_unpack_start(u, codec);
	while (out->n < LIMIT) {
		struct pd_span now = pd_span(in.p, (size_t)(end - in.p) < piece ? (size_t)(end - in.p) : piece);
		size_t had = out->n, left = now.n;
		int r = pd_unpack_feed(u, &now, room < LIMIT - had ? room : LIMIT - had, out);
		in.p = now.p;
		*used = (size_t)(in.p - start);
		HOLDS(out->n <= LIMIT && in.p <= end && out->n - had <= room);
		if (r)
			return r;
		if (now.n == left && out->n == had)
			return PD_ERR_TRUNCATED;
	}
	return PD_ERR_LIMIT;
}

static void all(struct pd_unpacker *u, enum pd_codec codec, struct pd_span in, int whole, const struct pd_buf *expect)
{
	struct pd_buf out = { 0 };
	int r = pd_unpack_all(u, codec, in, LIMIT, &out);
	HOLDS(out.n <= LIMIT);
	HOLDS(r <= 0 && (whole != PD_OK || out.n >= expect->n));
	HOLDS(whole != PD_OK || pd_span_eq(pd_span(out.p, expect->n), pd_buf_span(expect)));
	pd_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pd_unpacker *u;
	struct pd_buf a = { 0 }, b = { 0 }, c = { 0 };
	size_t used_a = 0, used_b = 0, used_c = 0;
	unsigned how = fuzz_first(&data, &n);
	enum pd_codec codec = (enum pd_codec)(PD_CODEC_GZIP + how % (PD_CODECS - PD_CODEC_GZIP));
	struct pd_span in = pd_span((const char *)data, n);
	if (!u)
		u = pd_unpacker_new();
	if (codec == PD_CODEC_ZSTD && in.n >= 4 && !pd_looks_packed(codec, in)) { /* libzstd also reads its old formats */
		HOLDS(pd_unpack_all(u, codec, in, LIMIT, &a) == PD_ERR_INPUT && !a.n);
		return 0;
	}
	int whole = pd_unpack_whole(u, codec, in, LIMIT, &a, &used_a);
	int streamed = stream(u, codec, in, n + 1, LIMIT, &b, &used_b);
	int pieces = stream(u, codec, in, how / PD_CODECS + 1, 1000, &c, &used_c);
	/* libzstd's stream lets pass odd empty frames that its one-shot decoder refuses, and not in all pieces. */
	bool odd = codec == PD_CODEC_ZSTD && whole == PD_ERR_INPUT;
	HOLDS(odd || (streamed == 1) == (pieces == 1));
	/* One way may notice damage later than the other, and return more bytes. */
	size_t common = b.n < c.n ? b.n : c.n;
	HOLDS(pd_span_eq(pd_span(b.p, common), pd_span(c.p, common)) && (odd || streamed != 1 || b.n == c.n));
	/* zlib refuses some damaged codes that libdeflate lets pass; never the other way round. */
	HOLDS(streamed != 1 || odd || whole == PD_OK || whole == PD_ERR_LIMIT || whole == PD_ERR_USAGE);
	HOLDS(whole || streamed < 0 || (used_a == used_b && pd_span_eq(pd_buf_span(&a), pd_buf_span(&b))));
	all(u, codec, in, whole, &a);
	pd_buf_release(&a);
	pd_buf_release(&b);
	pd_buf_release(&c);
	return 0;
}
