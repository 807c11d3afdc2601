/* SPDX-License-Identifier: MIT
 *
 * What the table of unicode.h says of a character; shared with the program that makes it (tools/gen_unicode.c), so it
 * needs nothing of ours.
 *
 * Folding means: NFKC and full case folding (Unicode Standard Annex 15; Unicode Standard, section 3.13).
 */
#ifndef PD_TERM_KIND_H
#define PD_TERM_KIND_H

#include <stdint.h>

enum pd_char_class {
	PD_CHAR_OTHER,		/* parts terms: punctuation, symbols, space, what is not assigned */
	PD_CHAR_LETTER,	/* of a script that parts words by spaces */
	PD_CHAR_DIGIT,		/* numbers of all kinds */
	PD_CHAR_HAN,		/* cut by the dictionary */
	PD_CHAR_BIGRAM,	/* Hiragana, Katakana, Thai, Lao, Khmer, Myanmar */
	PD_CHAR_EXTEND,	/* a mark: goes on with a word, begins none */
	PD_CHAR_IGNORED,	/* default ignorable, such as the soft hyphen: inside a word it is not there */
	PD_CHAR_APOSTROPHE,	/* stays between two letters */
};

enum {
	/* Folds to the one code point cp + delta, whatever stands before it; what follows may only change it by being
	 * no PD_CHAR_STARTS. */
	PD_CHAR_ONE = 1,
	/* Combines with nothing before it, under all of folding: text may be cut before it and folded in pieces. */
	PD_CHAR_STARTS = 2,
	/* White space once folded. */
	PD_CHAR_SPACE = 4,
	/* A run of letters with such a character has to be folded before it can be cut. */
	PD_CHAR_FOLD_FIRST = 8,
};

struct pd_char_kind {
	int32_t delta;
	uint8_t class;		/* of the folded character where it is PD_CHAR_ONE */
	uint8_t flags;
};

/* What folding a character that is not PD_CHAR_ONE needs, step by step.  Texts are places in pd_unicode_text, where a length
 * stands before the code points; 0: the character itself.  Hangul syllables, taken apart and put together by arithmetic, have
 * none. */
struct pd_char_steps {
	uint16_t canonical, compatible;		/* taken apart in full: NFD, NFKD */
	uint16_t folded;			/* full case folding of the character alone */
	uint8_t combining;			/* Canonical_Combining_Class */
	uint8_t composes;			/* may be the second of a pair that composes */
};

/* Two characters that compose; in order of (second, first). */
struct pd_char_pair {
	uint32_t second, first, both;
};

#define PD_UNICODE_SHIFT 7
/* What stands for a byte that is not UTF-8: the last entry of the table, a separator. */
#define PD_UNICODE_BAD 0x110000

#endif
