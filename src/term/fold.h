/* SPDX-License-Identifier: MIT
 *
 * One form of a text for comparing: NFKC (Unicode Standard Annex 15), default full case folding, white space collapsed to
 * one space and trimmed.
 */
#ifndef PD_TERM_FOLD_H
#define PD_TERM_FOLD_H

#include "base/buf.h"

struct pd_folder; /* scratch for one thread */

struct pd_folder *pd_folder_new(void);
void pd_folder_free(struct pd_folder *f);
/* Write the folded form of `utf8` to `out`; its content is replaced. */
void pd_fold(struct pd_folder *f, struct pd_span utf8, struct pd_buf *out);
/* Fold text in the form of terms: U+2019 becomes the apostrophe, and Chinese is simplified. */
void pd_fold_term(struct pd_folder *f, struct pd_span utf8, struct pd_buf *out);

/* Traditional Chinese -> simplified, character by character (simplified.def), so that a text has the same terms in both
 * scripts.  Several traditional characters map to one simplified one (發 and 髮: 发), never the reverse.  All characters
 * are in U+3400 ... U+9FFF, three bytes of UTF-8, so the length of the text does not change.
 *
 * Some characters of the table are shared: simplified text has them too, in other words (著名, but 看著 is 看着).  They
 * are unchanged here; the segmenter decides by the script and the words of a text. */

#define PD_SIMPLIFIED_FIRST 0x3400
#define PD_SIMPLIFIED_END 0xA000

/* Indexed by code point - PD_SIMPLIFIED_FIRST; 0: unchanged. */
extern const uint16_t pd_simplified_of[PD_SIMPLIFIED_END - PD_SIMPLIFIED_FIRST];

static inline uint32_t pd_simplified(uint32_t cp)
{
	uint32_t i = cp - PD_SIMPLIFIED_FIRST;
	return i < PD_SIMPLIFIED_END - PD_SIMPLIFIED_FIRST && pd_simplified_of[i] ? pd_simplified_of[i] : cp;
}

/* Return whether a traditional character is a character of simplified text, too. */
static inline bool pd_is_shared_han(uint32_t cp)
{
	switch (cp) {
	case 0x4E7E: /* 乾 */
	case 0x4FF1: /* 俱 */
	case 0x5412: /* 吒 */
	case 0x5925: /* 夥 */
	case 0x59CA: /* 姊 */
	case 0x5FB5: /* 徵 */
	case 0x6607: /* 昇 */
	case 0x647A: /* 摺 */
	case 0x6C3E: /* 氾 */
	case 0x77AD: /* 瞭 */
	case 0x8457: /* 著 */
	case 0x85C9: /* 藉 */
	case 0x8DE4: /* 跤 */
	case 0x962A: /* 阪 */
	case 0x9EBD: /* 麽 */ return true;
	default: return false;
	}
}

/* Simplify in place, except shared characters. */
void pd_simplify(char *utf8, size_t n);

#endif
