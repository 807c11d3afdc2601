/* SPDX-License-Identifier: MIT
 *
 * Eight bytes of text at once, for the ASCII that most pages are mostly made of.  A mask has the highest bit of a byte
 * set where something holds for it.  Bytes are in memory order, lowest first (little-endian, as everything here is).
 */
#ifndef PD_TERM_ASCII_H
#define PD_TERM_ASCII_H

#include <stdint.h>
#include <string.h>

#define PD_EACH(byte) (0x0101010101010101u * (uint64_t)(byte))
#define PD_HIGH PD_EACH(0x80)

static inline uint64_t pd_eight_load(const char *p)
{
	uint64_t x;
	memcpy(&x, p, 8);
	return x;
}

static inline void pd_eight_store(char *p, uint64_t x)
{
	memcpy(p, &x, 8);
}

/* Bytes of x, all below 0x80, that are from..to: adding lifts a byte over 0x80 without touching its neighbour. */
static inline uint64_t pd_eight_range(uint64_t x, uint8_t from, uint8_t to)
{
	return (x + PD_EACH(0x80 - from)) & ~(x + PD_EACH(0x7F - to)) & PD_HIGH;
}

/* A mask moved from 0x80 to 0x20: the bit that makes a capital small. */
static inline uint64_t pd_eight_case(uint64_t mask)
{
	return mask >> 2;
}

#endif
