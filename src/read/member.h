/* SPDX-License-Identifier: MIT
 *
 * In: an input.  Out: its bytes as they were before compression, through a window, member by member: it is known where
 * each gzip member begins and ends (RFC 1952, 2.2).  An input that is not compressed is one member.
 *
 *	while (pd_member_next(m) == 1)		// the window gets the member's bytes, after what was left in it
 *		while ((s = pd_member_peek(m, 1)).n)
 *			pd_member_skip(m, s.n);
 *
 * A member that lies in memory as a whole goes the fast way, any other is streamed in pieces; both give the same bytes,
 * because the fast way is all or nothing.  Memory: a window of some MiB, whatever the member's size.
 */
#ifndef PD_READ_MEMBER_H
#define PD_READ_MEMBER_H

#include "base/codec.h"
#include "read/input.h"

enum pd_member_state {
	PD_MEMBER_MORE,		/* more bytes may come */
	PD_MEMBER_ENDED,	/* the window holds all that is left, and the checksum was right */
	PD_MEMBER_BROKEN,	/* the window holds what came before the damage */
};

struct pd_member {
	struct pd_input *in;
	struct pd_unpacker *unpacker;
	bool gzip;
	bool begun;			/* plain input: its one member was given */
	size_t whole_max;		/* compressed bytes up to which the fast way is tried; 0: never */
	struct pd_buf out;		/* the window */
	size_t at;			/* reading position in it */
	uint64_t offset;		/* of the reading position, all members counted */
	uint64_t start;			/* where the current member begins in the input */
	enum pd_member_state state;
	const char *reason;		/* BROKEN, or nothing begins here: why */
	uint64_t reached;		/* how far into the input a broken member was read */
	int strikes;			/* members that broke before that point, see resync */
	struct pd_buf probe;
};

void pd_member_init(struct pd_member *m);
void pd_member_release(struct pd_member *m);
/* The start of an input. */
void pd_member_open(struct pd_member *m, struct pd_input *in, bool gzip);
/* The next member: 1; 0 end of the input; PD_ERR_INPUT: what follows is no member (`reason`), resync. */
int pd_member_next(struct pd_member *m);
/* At least `want` bytes, fewer only when `state` is no longer MORE.  Ask for at most PD_INPUT_WINDOW. */
struct pd_span pd_member_peek(struct pd_member *m, size_t want);
void pd_member_skip(struct pd_member *m, size_t n);
/* Offset of the reading position: in the input when it is plain, else in the stream of all members. */
uint64_t pd_member_offset(const struct pd_member *m);
/* After a broken member, or junk: to the next gzip member that begins with a WARC record, or to the end. */
void pd_member_resync(struct pd_member *m);
/* Where in `s`, at or after `from`, a gzip member begins that holds a WARC record, or -1. */
ptrdiff_t pd_member_find(struct pd_member *m, struct pd_span s, size_t from);
/* The first bytes of what the gzip member at the start of `s` holds. */
struct pd_span pd_member_head(struct pd_member *m, struct pd_span s, size_t room);

#endif
