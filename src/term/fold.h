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
 * are in U+3400 ... U+9FFF, three bytes of UTF-8, so the length of the text does not change. */

#define PD_SIMPLIFIED_FIRST 0x3400
#define PD_SIMPLIFIED_END 0xA000

/* Indexed by code point - PD_SIMPLIFIED_FIRST; 0: unchanged. */
extern const uint16_t pd_simplified_of[PD_SIMPLIFIED_END - PD_SIMPLIFIED_FIRST];

static inline uint32_t pd_simplified(uint32_t cp)
{
	uint32_t i = cp - PD_SIMPLIFIED_FIRST;
	return i < PD_SIMPLIFIED_END - PD_SIMPLIFIED_FIRST && pd_simplified_of[i] ? pd_simplified_of[i] : cp;
}

/* Simplify in place. */
void pd_simplify(char *utf8, size_t n);

#endif
