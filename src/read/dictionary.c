/* SPDX-License-Identifier: MIT
 *
 * The dictionary of a .warc.zst: a skippable frame 0x184D2A5D before all others, holding it as it is or compressed as a
 * zstd frame ("WARC compression with Zstandard", IIPC).  Every frame behind it needs it.
 */
#include "base/err.h"
#include "read/member.h"

/* Trained dictionaries are some hundred KiB. */
enum { DICTIONARY_MAX = 1 << 24 };

static bool take(struct pd_input *in, size_t n, struct pd_buf *out)
{
	while (n) {
		struct pd_span s = pd_input_peek(in, 1);
		size_t part = s.n < n ? s.n : n;
		if (!part)
			return false;
		pd_buf_add(out, s.p, part);
		pd_input_skip(in, part);
		n -= part;
	}
	return true;
}

static bool load(struct pd_member *m, struct pd_span content)
{
	struct pd_buf bare = { 0 };
	bool ok = content.n > 0;
	if (pd_looks_packed(PD_CODEC_ZSTD, content)) {
		ok = pd_unpack_all(m->unpacker, PD_CODEC_ZSTD, content, DICTIONARY_MAX, &bare) == PD_OK;
		content = pd_buf_span(&bare);
	}
	ok = ok && pd_unpacker_dictionary(m->unpacker, content) && pd_unpacker_dictionary(m->prober, content);
	pd_buf_release(&bare);
	return ok;
}

const char *pd_member_dictionary(struct pd_member *m)
{
	struct pd_buf content = { 0 };
	struct pd_span head = pd_input_peek(m->in, 8);
	const unsigned char *b = (const unsigned char *)head.p + 4;
	pd_unpacker_dictionary(m->unpacker, pd_span(NULL, 0));
	pd_unpacker_dictionary(m->prober, pd_span(NULL, 0));
	if (head.n < 8 || memcmp(head.p, "\x5d\x2a\x4d\x18", 4) != 0)
		return NULL;
	size_t n = b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
	/* Left where it is: then it is a skippable frame like any other. */
	if (n > DICTIONARY_MAX)
		return "zstd dictionary over 16 MiB";
	pd_input_skip(m->in, 8);
	const char *wrong = !take(m->in, n, &content) ? "zstd dictionary cut by the end of the file" :
			    !load(m, pd_buf_span(&content)) ? "damaged zstd dictionary" : NULL;
	pd_buf_release(&content);
	return wrong;
}
