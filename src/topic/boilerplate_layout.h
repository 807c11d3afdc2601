/* SPDX-License-Identifier: MIT
 *
 * How the table lies in its file (docs/format-boilerplate.md), shared by who reads and who writes it.  Used in place:
 * little-endian, numbers aligned to their size.
 */
#ifndef PD_TOPIC_BOILERPLATE_LAYOUT_H
#define PD_TOPIC_BOILERPLATE_LAYOUT_H

#include <stdint.h>

#define PD_BOILERPLATE_MAGIC "\x89PDBOIL\n"

struct pd_boilerplate_header {
	char magic[8];
	uint64_t checksum[2];		/* XXH3-128 of bytes 24 to samples_at, high half first */
	uint32_t version, zero;
	uint64_t length;		/* of the file */
	uint64_t samples_at;		/* where the samples begin; `length` when there are none */
	uint64_t samples_checksum[2];	/* XXH3-128 of them */
	uint64_t hosts, keys, names;	/* entries, keys, bytes of names padded to 8 */
	uint32_t sample, texts, bits;	/* what decided: PD_SITE_SAMPLE, PD_SITE_TEXTS, PD_SITE_BITS */
	uint32_t hidden;		/* 1: hidden elements were text */
	uint64_t zeroes[3];
};

#define PD_BOILERPLATE_UNCHECKED 24	/* bytes before those that the checksum covers */

/* Then `hosts` of these, ascending by key; then the keys, the names, the samples. */
struct pd_boilerplate_entry {
	uint64_t key;
	uint64_t keys_at;		/* number of its first key: lines, then paths */
	uint64_t name_at;		/* byte of the names */
	uint64_t sample_at;		/* byte of the samples */
	uint32_t lines, paths;
	uint32_t sample;		/* bytes of its sample */
	uint16_t name, pages;		/* bytes of the name; pages of the sample */
};

_Static_assert(sizeof(struct pd_boilerplate_header) == 128, "no padding");
_Static_assert(sizeof(struct pd_boilerplate_entry) == 48, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are used in place");

#endif
