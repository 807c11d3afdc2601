/* SPDX-License-Identifier: MIT
 *
 * Traditional Chinese -> simplified, character by character (simplified.def), so that a text has the same terms in either
 * script.  Several traditional characters become one simplified one (發 and 髮: 发), never the other way round.  All
 * characters are of U+3400 ... U+9FFF, three bytes of UTF-8, so text keeps its length.
 */
#ifndef PD_TERM_SIMPLIFIED_H
#define PD_TERM_SIMPLIFIED_H

#include <stddef.h>
#include <stdint.h>

#define PD_SIMPLIFIED_FIRST 0x3400
#define PD_SIMPLIFIED_END 0xA000

/* By code point - PD_SIMPLIFIED_FIRST; 0: it stays as it is. */
extern const uint16_t pd_simplified_of[PD_SIMPLIFIED_END - PD_SIMPLIFIED_FIRST];

static inline uint32_t pd_simplified(uint32_t cp)
{
	uint32_t i = cp - PD_SIMPLIFIED_FIRST;
	return i < PD_SIMPLIFIED_END - PD_SIMPLIFIED_FIRST && pd_simplified_of[i] ? pd_simplified_of[i] : cp;
}

/* In place. */
void pd_simplify(char *utf8, size_t n);

#endif
