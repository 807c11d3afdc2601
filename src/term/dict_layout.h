/* SPDX-License-Identifier: MIT
 *
 * Sections of the dictionary (base/container.h, docs/format-dict.md), for the compiler (dict_compile.c), the reader
 * (dict.c) and the segmenter (segment.c).  All of it is used in place.
 */
#ifndef PD_TERM_DICT_LAYOUT_H
#define PD_TERM_DICT_LAYOUT_H

#include "base/container.h"
#include "term/prefixes.h"

/* A minimal perfect hash: maps n different keys to the numbers 0 … n - 1, in the order of the keys.  It is cmph's CHM:
 * Z. Czech, G. Havas, B. Majewski, "An optimal algorithm for generating minimal perfect hash functions", Information
 * Processing Letters 43, 1992.  It returns numbers for other keys too, so the caller must compare the key.
 * (perfect.c) */

#define PD_PERFECT_NONE UINT32_MAX

struct pd_perfect {
	const void *packed;
	uint32_t n;
};

/* Append the function as bytes to `out`; the same keys give the same bytes.  cmph takes its numbers from the C
 * library's rand(), which this function seeds: do not call it in a program with threads that use rand(). */
int pd_perfect_build(const struct pd_span *keys, size_t n, struct pd_buf *out, struct pd_err *e);
/* Open the function in place; `bytes` must be aligned to 4.  PD_ERR_DICT unless they have the form that cmph, which
 * checks nothing, expects for n keys. */
int pd_perfect_open(struct pd_perfect *f, struct pd_span bytes, size_t n, struct pd_err *e);
/* Return a number below n, or PD_PERFECT_NONE. */
uint32_t pd_perfect_find(const struct pd_perfect *f, struct pd_span key);

#define PD_DICT_VERSION 4

enum pd_dict_part {
	PD_DICT_HASH,	  /* word -> number */
	PD_DICT_ENTRIES,  /* struct pd_dict_entry for each number */
	PD_DICT_DETAILS,  /* struct pd_dict_detail for each number */
	PD_DICT_TEXT,	  /* the words, end to end */
	PD_DICT_TAGS,	  /* parts of speech, 4 bytes each, NUL-padded */
	PD_DICT_PREFIXES, /* tables of prefixes.h */
	PD_DICT_LEVELS,	  /* struct pd_prefix_level for each of them */
	PD_DICT_CHARS,	  /* uint32_t cost of each character of the range as a word by itself */
	PD_DICT_INDEX,	  /* struct pd_dict_index */
	PD_DICT_PARTS
};

extern const struct pd_container_kind pd_dict_kind;

struct pd_dict_index {
	uint64_t id; /* hash of the content: equal dictionaries have equal ids, although the perfect hash differs with
		      * the C library that was used to make it */
	uint64_t zero[2];
	uint32_t words;
	uint32_t floor; /* cost of a character that is not a word: the cost of frequency 1 */
	uint32_t first_char, chars;
	uint32_t tags;
	uint32_t levels; /* number of tables of prefixes */
	uint64_t total;	 /* sum of all frequencies */
};

/* Costs are -ln(frequency / total) in units of 1/65536.  They are whole numbers, so that segmentation is the same on
 * every machine. */
#define PD_DICT_COST_UNIT 65536.0
#define PD_DICT_NO_COST UINT32_MAX

#define PD_DICT_WORD_MAX 255 /* bytes */

struct pd_dict_entry {
	uint32_t place; /* offset in the text << 8 | length in bytes */
	uint32_t cost;
};

struct pd_dict_detail {
	uint32_t frequency;
	uint16_t idf; /* in units of 1/4096 */
	uint8_t tag;
	uint8_t zero;
};
#define PD_DICT_IDF_UNIT 4096.0

struct pd_dict {
	struct pd_container c;
	const struct pd_dict_index *index;
	struct pd_perfect perfect;
	const struct pd_dict_entry *entries;
	const struct pd_dict_detail *details;
	struct pd_span text;
	const char *tags;
	struct pd_prefix_table prefixes[PD_PREFIX_LEVELS_MAX];
	size_t levels;
	const uint32_t *chars;
	char id[17];
	void *owned; /* the bytes, if they were read from a file or moved */
};

#endif
