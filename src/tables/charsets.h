/* SPDX-License-Identifier: MIT
 *
 * Tables of the legacy charsets.  src/tables/mkcharsets.c makes them at build time from iconv and the exceptions of the
 * WHATWG Encoding Standard.  They are part of the program, so that fingerprints do not depend on a machine's iconv.
 *
 * An entry of `one`, `two` and `three` holds the UTF-8 encoding of the character, first byte lowest; 0: there is none. 
 * Four bytes are enough for any character, and for the four pairs of characters that have single codes in Big5.
 *
 *	bits   31..24   23..16   15..8    7..0
 *	       byte 3   byte 2   byte 1   byte 0     中 E4 B8 AD: 0x00ADB8E4
 */
#ifndef PD_TABLES_CHARSETS_H
#define PD_TABLES_CHARSETS_H

#include <stdint.h>

/* All charsets, in the order of enum pd_charset_id. */
enum {
	PD_TEXT_TABLES = 0
#define CHARSET(id, name, iconv, kind, digest) +1
#include "tables/charsets.def"
#undef CHARSET
};

#define PD_TEXT_CODES (128 * 256) /* of two bytes: [lead - 80][second] */
/* GB18030's codes of four bytes for characters up to U+FFFF: (((b0 - 81) * 10 + b1 - 30) * 126 + b2 - 81) * 10 + b3 -
 * 30.  Characters from U+10000 are computed: their codes count up from 90 30 81 30. */
#define PD_TEXT_FOUR 39420
#define PD_TEXT_FOUR_BEYOND 189000

struct pd_text_tables {
	uint32_t one[PD_TEXT_TABLES][128]; /* single bytes 80–FF, all charsets */
	uint32_t gb18030[PD_TEXT_CODES], big5[PD_TEXT_CODES], euc_kr[PD_TEXT_CODES], shift_jis[PD_TEXT_CODES];
	uint32_t euc_jp[PD_TEXT_CODES];	 /* 8E and half-width kana, too; ISO-2022-JP's as well */
	uint32_t jis0212[PD_TEXT_CODES]; /* EUC-JP: the two bytes after 8F, [second - 80][third] */
	uint16_t four[PD_TEXT_FOUR];	 /* code points */
};

extern const struct pd_text_tables pd_data_charsets __attribute__((visibility("hidden")));

#endif
