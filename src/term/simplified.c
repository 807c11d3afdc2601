/* SPDX-License-Identifier: MIT */
#include "term/simplified.h"

#define X(traditional, simplified) [traditional - PD_SIMPLIFIED_FIRST] = simplified,
const uint16_t pd_simplified_of[PD_SIMPLIFIED_END - PD_SIMPLIFIED_FIRST] = {
#include "term/simplified.def"
};
#undef X

void pd_simplify(char *utf8, size_t n)
{
	for (size_t i = 0; i + 3 <= n; i++) {
		unsigned char *p = (unsigned char *)utf8 + i;
		if (p[0] < 0xE3 || p[0] > 0xE9 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80)
			continue;
		uint32_t cp = (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
		uint32_t to = pd_simplified(cp);
		p[0] = (unsigned char)(0xE0 | to >> 12);
		p[1] = (unsigned char)(0x80 | (to >> 6 & 0x3F));
		p[2] = (unsigned char)(0x80 | (to & 0x3F));
		i += 2;
	}
}
