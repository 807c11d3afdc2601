/* SPDX-License-Identifier: MIT
 *
 * How the dictionary lies in its container (docs/format-dict.md), shared by who writes it (dict_compile.c), who opens it
 * (dict.c) and who cuts Chinese with it (han.c).  All of it is used in place: little-endian, parts aligned to 64 bytes.
 */
#ifndef PD_TERM_DICT_LAYOUT_H
#define PD_TERM_DICT_LAYOUT_H

#include "term/dict.h"
#include "term/perfect.h"

#define PD_DICT_MAGIC "\x89PDDICT\n"
#define PD_DICT_VERSION 1
#define PD_DICT_HEADER 64
#define PD_DICT_ALIGN 64

/* The first 64 bytes.  The checksum is over everything that follows them. */
struct pd_dict_header {
	char magic[8];
	uint32_t version, reserved;
	uint64_t length;	/* of all of it */
	uint64_t checksum[2];	/* XXH3-128, high half first */
	uint64_t zero[3];
};

enum pd_dict_part {
	PD_DICT_HASH,		/* word -> number */
	PD_DICT_ENTRIES,	/* struct pd_dict_entry for each number */
	PD_DICT_DETAILS,	/* struct pd_dict_detail for each number */
	PD_DICT_TEXT,		/* the words, end to end */
	PD_DICT_TAGS,		/* parts of speech, 4 bytes each, NUL-padded */
	PD_DICT_FILTER,		/* two bits for each hash of a prefix */
	PD_DICT_CHARS,		/* uint32_t cost of each character of the range as a word by itself */
	PD_DICT_PARTS
};

/* What follows the header. */
struct pd_dict_index {
	uint32_t words;
	uint32_t filter_bits;	/* the filter has 2^filter_bits slots of two bits */
	uint32_t floor;		/* cost of a character that is no word: that of frequency 1 */
	uint32_t first_char, chars;
	uint32_t tags;
	uint64_t total;		/* sum of all frequencies */
	struct {
		uint64_t at, n;	/* bytes, from the beginning of the container */
	} part[PD_DICT_PARTS];
};

/* Costs are -ln(frequency / total) in units of 1/65536: whole numbers, so that every machine cuts alike. */
#define PD_DICT_COST_UNIT 65536.0
#define PD_DICT_NO_COST UINT32_MAX

#define PD_DICT_WORD_MAX 255	/* bytes */

struct pd_dict_entry {
	uint32_t place;		/* where in the text << 8 | bytes */
	uint32_t cost;
};

struct pd_dict_detail {
	uint32_t frequency;
	uint16_t idf;		/* in units of 1/4096 */
	uint8_t tag;
	uint8_t zero;
};
#define PD_DICT_IDF_UNIT 4096.0

struct pd_dict {
	const struct pd_dict_index *index;
	struct pd_perfect perfect;
	const struct pd_dict_entry *entries;
	const struct pd_dict_detail *details;
	struct pd_span text;
	const char *tags;
	const uint8_t *filter;
	const uint32_t *chars;
	unsigned filter_shift;
	char checksum[17];
	void *owned;		/* the container, when it was read or had to be moved */
};

/* The filter over prefixes of two or more code points.  Of a hash, the two bits say: a word has it; a longer word
 * begins with it.  Both may say yes in error, never no. */
enum { PD_PREFIX_WORD = 1, PD_PREFIX_MORE = 2 };

/* The hash of a prefix, from that of one code point less (0 for none). */
static inline uint64_t pd_prefix_hash(uint64_t before, uint32_t cp)
{
	uint64_t h = (before ^ cp) * 0x9E3779B97F4A7C15u;
	return h ^ h >> 29;
}

/* The slot is the hash's highest bits, multiplied once more: they depend on all of it. */
static inline uint64_t pd_prefix_slot(uint64_t hash, unsigned shift)
{
	return hash * 0xD6E8FEB86659FD93u >> shift;
}

static inline unsigned pd_prefix_bits(const struct pd_dict *d, uint64_t slot)
{
	return d->filter[slot >> 2] >> (slot & 3) * 2 & 3;
}

/* The cost of a word, PD_DICT_NO_COST when it is none. */
uint32_t pd_dict_cost(const struct pd_dict *d, struct pd_span word);

#endif
