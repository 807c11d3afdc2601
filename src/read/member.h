/* SPDX-License-Identifier: MIT
 *
 * In: an input.  Out: its bytes as they were before compression, through a window, member by member: it is known where
 * each begins and ends, be it a gzip member (RFC 1952, 2.2), a zstd frame (RFC 8878) or an lz4 frame.  An input that is
 * not compressed is one member.
 *
 *	while (pd_read_member_next(m) == 1)		// the window gets the member's bytes, after what was left in it
 *		while ((s = pd_read_member_peek(m, 1)).n)
 *			pd_read_member_skip(m, s.n);
 *
 * A member that lies in memory as a whole goes the fast way, any other is streamed in pieces; both give the same bytes,
 * because the fast way is all or nothing.  Skippable frames are members without bytes.  Memory: a window of some MiB,
 * whatever the member's size, and what the codec itself needs (zstd: the window that the frame asks for).
 */
#ifndef PD_READ_MEMBER_H
#define PD_READ_MEMBER_H

#include "base/codec.h"
#include "read/input.h"

enum pd_read_member_state {
	PD_MEMBER_MORE,		/* more bytes may come */
	PD_MEMBER_ENDED,	/* the window holds all that is left, and the checksum was right */
	PD_MEMBER_BROKEN,	/* the window holds what came before the damage */
};

struct pd_read_member {
	struct pd_read_input *in;
	struct pd_unpacker *unpacker;
	enum pd_codec codec;		/* PD_CODEC_NONE: plain */
	bool (*begins)(struct pd_span head);	/* what a member begins with that resync may stop at */
	bool begun;			/* plain input: its one member was given */
	size_t whole_max;		/* compressed bytes up to which the fast way is tried; 0: never */
	struct pd_buf out;		/* the window */
	size_t at;			/* reading position in it */
	uint64_t offset;		/* of the reading position, all members counted */
	uint64_t start;			/* where the current member begins in the input */
	uint64_t start_offset;		/* … and in the stream of all members */
	enum pd_read_member_state state;
	const char *reason;		/* BROKEN, or nothing begins here: why */
	uint64_t reached;		/* how far into the input a broken member was read */
	int strikes;			/* members that broke before that point, see resync */
	uint64_t probed;		/* bytes searched by resync */
	struct pd_unpacker *prober;	/* … without disturbing the member that is being read */
	struct pd_buf probe;
};

/* How messages speak of a codec's members. */
struct pd_read_member_words {
	const char *cut, *damaged, *junk, *record_cut, *record_junk;
};

void pd_read_member_init(struct pd_read_member *m);
void pd_read_member_release(struct pd_read_member *m);
/* The start of an input, or wherever it stands. */
void pd_read_member_open(struct pd_read_member *m, struct pd_read_input *in, enum pd_codec codec);
/* zstd: takes the dictionary of a .warc.zst from the frame at the reading position, if one begins there, and moves on
 * past it.  NULL, or what is wrong with it. */
const char *pd_read_member_dictionary(struct pd_read_member *m);
/* The next member: 1; 0 end of the input; PD_ERR_INPUT: what follows is no member (`reason`), resync. */
int pd_read_member_next(struct pd_read_member *m);
/* At least `want` bytes, fewer only when `state` is no longer MORE.  Ask for at most PD_INPUT_WINDOW. */
struct pd_span pd_read_member_peek(struct pd_read_member *m, size_t want);
void pd_read_member_skip(struct pd_read_member *m, size_t n);
/* Offset of the reading position: in the input when it is plain, else in the stream of all members. */
uint64_t pd_read_member_offset(const struct pd_read_member *m);
const struct pd_read_member_words *pd_read_member_words(const struct pd_read_member *m);
/* After a broken member, or junk: to the next member that `begins` as it should, or to the end. */
void pd_read_member_resync(struct pd_read_member *m);
/* Where in `s`, at or after `from`, a member begins that `begins` as it should, or -1. */
ptrdiff_t pd_read_member_find(struct pd_read_member *m, struct pd_span s, size_t from);
/* How an input that begins like this is compressed. */
enum pd_codec pd_read_member_codec(struct pd_span head);

static inline bool pd_read_member_packed(const struct pd_read_member *m)
{
	return m->codec != PD_CODEC_NONE;
}

#endif
