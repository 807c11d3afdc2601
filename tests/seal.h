/* SPDX-License-Identifier: MIT
 *
 * Correct checksums for the bytes of a container, changed or cut, as a forger would make them: readers must check
 * every number.
 */
#ifndef SEAL_H
#define SEAL_H

#include "base/container.h"
#include "base/hash.h"

/* Give the bytes their head, directory, checksums and footer; return their new length, at most n.  Keep the contents of the footer as far as possible. */
static inline size_t seal_container(char *p, size_t n, uint64_t number)
{
	enum { FOOTER = 32, PLACE = 16 };
	char end[FOOTER + PD_CONTAINER_SECTIONS * PLACE];
	uint64_t content, v;
	uint32_t sections;
	if (n < PD_CONTAINER_HEAD + FOOTER)
		return n;
	memcpy(&content, p + n - FOOTER, sizeof content);
	memcpy(&sections, p + n - FOOTER + 8, sizeof sections);
	if (sections > PD_CONTAINER_SECTIONS || sections * PLACE > n - PD_CONTAINER_HEAD - FOOTER)
		sections = 0;
	/* The directory moves if its length differs from the length in the footer. */
	size_t rest = n - FOOTER - sections * PLACE, at = content <= rest && content >= PD_CONTAINER_HEAD ? content : rest;
	memcpy(end, p + at, n - at < sections * PLACE ? 0 : sections * PLACE);
	content = rest / 8 * 8;
	while (content + pd_block_sums_count(content) * 8 > rest)
		content -= 8;
	if (content < PD_CONTAINER_HEAD)
		return n;
	memcpy(p + 16, &number, sizeof number);
	v = pd_hash64(p, 24);
	memcpy(p + 24, &v, sizeof v);
	struct pd_buf sums = { 0 };
	pd_block_sums_make(p, content, number, &sums);
	memcpy(p + content, end, sections * PLACE);
	memcpy(p + content + sections * PLACE, sums.p, sums.n);
	uint64_t tail = sections * UINT64_C(16) + sums.n, foot[4] = { content, sections, 0, 0 };
	foot[2] = pd_hash64_seed(p + content, tail, number);
	foot[3] = pd_hash64_seed(foot, 24, number);
	memcpy(p + content + tail, foot, sizeof foot);
	pd_buf_release(&sums);
	return content + tail + FOOTER;
}

#endif
