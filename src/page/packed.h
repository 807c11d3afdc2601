/* SPDX-License-Identifier: MIT
 *
 * A parsed page as bytes and back: all of struct pd_blocks but its XHTML, so that pages are parsed once where something
 * must be learned from all of them before the first is signed.  Numbers are written in base 128, low digits first, the
 * high bit of a byte says that another follows; most are differences from what stands before, so that most take one byte.
 *
 * The bytes are for the program that wrote them: they have no version.  Reading checks all the same that it stays inside
 * them and that what refers to something refers to something that is there.
 */
#ifndef PD_PAGE_PACKED_H
#define PD_PAGE_PACKED_H

#include "page/blocks.h"

void pd_packed_number(struct pd_buf *out, uint64_t n);
void pd_packed_span(struct pd_buf *out, struct pd_span s);

/* Reading: `at` moves on to `end`; past it, `bad` is set, and all that follows is 0. */
struct pd_packed {
	const char *at, *end;
	bool bad;
};

uint64_t pd_packed_next(struct pd_packed *p);
/* Borrowed from the bytes. */
struct pd_span pd_packed_next_span(struct pd_packed *p);

void pd_blocks_pack(const struct pd_blocks *b, struct pd_buf *out);
/* The spans in `out` are borrowed from the bytes, which must outlive it.  False: damaged. */
bool pd_blocks_unpack(struct pd_packed *p, struct pd_blocks *out);

#endif
