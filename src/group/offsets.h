/* SPDX-License-Identifier: MIT
 *
 * Where lines begin in a file, by number: five bytes each, little-endian, up to a terabyte.
 */
#ifndef PD_GROUP_OFFSETS_H
#define PD_GROUP_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

#define PD_OFFSET_BYTES 5
#define PD_OFFSET_MAX (UINT64_C(1) << 40)

static inline uint64_t pd_offset_get(const uint8_t *v, size_t i)
{
	const uint8_t *p = v + i * PD_OFFSET_BYTES;
	return p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32;
}

static inline void pd_offset_put(uint8_t *v, size_t i, uint64_t at)
{
	uint8_t *p = v + i * PD_OFFSET_BYTES;
	for (int b = 0; b < PD_OFFSET_BYTES; b++)
		p[b] = (uint8_t)(at >> 8 * b);
}

#endif
