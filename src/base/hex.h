/* SPDX-License-Identifier: MIT
 *
 * Hexadecimal digits: written in lower case, read in both.
 */
#ifndef PD_BASE_HEX_H
#define PD_BASE_HEX_H

#include "base/buf.h"

/* A digit's value and one; 0: no digit. */
extern const unsigned char pd_hex_value_and_one[256];

/* 0 … 15, or -1: no digit. */
static inline int pd_hex_digit(char c)
{
	return pd_hex_value_and_one[(unsigned char)c] - 1;
}

/* The byte that two digits are, or -1. */
static inline int pd_hex_byte(char high, char low)
{
	int h = pd_hex_digit(high), l = pd_hex_digit(low);
	return h < 0 || l < 0 ? -1 : h << 4 | l;
}

/* 16 digits, highest first. */
void pd_hex_add(struct pd_buf *out, uint64_t v);
/* False unless the span is 16 digits. */
bool pd_hex_u64(struct pd_span s, uint64_t *out);

#endif
