/* SPDX-License-Identifier: MIT
 *
 * Character properties in the table of unicode.h.  The program that makes the table (src/tables/gen_unicode.c) includes this
 * header too, so it includes nothing.
 *
 * Folding means NFKC and full case folding (Unicode Standard Annex 15; Unicode Standard, section 3.13).
 */
#ifndef PD_TERM_KIND_H
#define PD_TERM_KIND_H

#include <stdint.h>

enum pd_char_class {
	PD_CHAR_OTHER,	    /* separates terms: punctuation, symbols, space, unassigned */
	PD_CHAR_LETTER,	    /* of a script that separates words by spaces */
	PD_CHAR_DIGIT,	    /* numbers of all kinds */
	PD_CHAR_HAN,	    /* segmented by the dictionary */
	PD_CHAR_BIGRAM,	    /* Hiragana, Katakana, Thai, Lao, Khmer, Myanmar */
	PD_CHAR_EXTEND,	    /* a mark: continues a word, but does not begin one */
	PD_CHAR_IGNORED,    /* default ignorable, such as the soft hyphen: removed inside a word */
	PD_CHAR_APOSTROPHE, /* kept between two letters */
};

enum {
	/* Folds to the single code point cp + delta, independent of its predecessor.  Only a following character
	 * without PD_CHAR_STARTS can change the result. */
	PD_CHAR_ONE = 1,
	/* Does not combine with its predecessor in any step of folding: text may be cut here and folded in pieces. */
	PD_CHAR_STARTS = 2,
	/* White space after folding. */
	PD_CHAR_SPACE = 4,
	/* Fold a run of letters with this character, then segment it. */
	PD_CHAR_FOLD_FIRST = 8,
};

struct pd_char_kind {
	int32_t delta;
	uint8_t class; /* class of the folded character if it is PD_CHAR_ONE */
	uint8_t flags;
};

/* Steps to fold a character that is not PD_CHAR_ONE.  Texts are offsets in pd_unicode_text, which has the length
 * followed by the code points; 0: the character itself.  Hangul syllables have no entries: they are decomposed and
 * composed by arithmetic. */
struct pd_char_steps {
	uint16_t canonical, compatible; /* full decompositions: NFD, NFKD */
	uint16_t folded;		/* full case folding of the character */
	uint8_t combining;		/* Canonical_Combining_Class */
	uint8_t composes;		/* may be the second of a pair that composes */
};

/* Two characters that compose, in order of (second, first). */
struct pd_char_pair {
	uint32_t second, first, both;
};

#define PD_UNICODE_SHIFT 7
/* Represents a byte that is not UTF-8: the last entry of the table, a separator. */
#define PD_UNICODE_BAD 0x110000

#endif
