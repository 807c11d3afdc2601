/* SPDX-License-Identifier: MIT
 *
 * Charsets as this folder sees them: an id for tables, and which loop decodes them.
 */
#ifndef PD_TEXT_CHARSET_H
#define PD_TEXT_CHARSET_H

#include "text/text.h"

enum pd_charset_id {
#define CHARSET(id, name, iconv, kind) PD_##id,
#include "text/charsets.def"
#undef CHARSET
	PD_CHARSETS
};

enum pd_charset_kind {
	PD_CHARSET_KIND_NONE,		/* "replacement": no browser decodes it */
	PD_CHARSET_KIND_UTF_8,
	PD_CHARSET_KIND_UTF_16LE,
	PD_CHARSET_KIND_UTF_16BE,
	PD_CHARSET_KIND_SINGLE,		/* one byte, one character */
	PD_CHARSET_KIND_GB18030,	/* from here on one character may take several bytes */
	PD_CHARSET_KIND_BIG5,
	PD_CHARSET_KIND_EUC_KR,
	PD_CHARSET_KIND_SHIFT_JIS,
	PD_CHARSET_KIND_EUC_JP,
	PD_CHARSET_KIND_ISO_2022_JP,
};

const struct pd_charset *pd_charset_by_id(enum pd_charset_id id);

#endif
