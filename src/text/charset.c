/* SPDX-License-Identifier: MIT
 *
 * What a charset label means to a browser.  In: a label as found on the web; out: one of 40 encodings, or nothing.
 * Both tables are the WHATWG Encoding Standard's, because pages are written until browsers show them right: what
 * IANA's registry says of "gb2312" or "iso-8859-1" is not what such pages hold.
 */
#include "text/charset.h"

#include <stdlib.h>

struct label {
	const char *label;
	enum pd_charset_id id;
};

static const struct pd_charset charsets[PD_CHARSETS] = {
#define CHARSET(id, name, iconv, kind) [PD_##id] = { name, iconv, PD_##id, kind },
#include "text/charsets.def"
#undef CHARSET
};

static const struct label labels[] = {
#define LABEL(label, id) { label, PD_##id },
#include "text/labels.def"
#undef LABEL
};

static int by_label(const void *key, const void *row)
{
	const struct pd_span *k = key;
	return pd_span_cmp(*k, pd_span_z(((const struct label *)row)->label));
}

const struct pd_charset *pd_charset_by_label(struct pd_span label)
{
	char low[24];	/* the longest label has 19 bytes */
	label = pd_span_trim(label);
	if (label.n == 0 || label.n > sizeof(low))
		return NULL;
	for (size_t i = 0; i < label.n; i++)
		low[i] = pd_ascii_lower(label.p[i]);
	label.p = low;
	const struct label *row = bsearch(&label, labels, sizeof(labels) / sizeof(labels[0]), sizeof(labels[0]), by_label);
	return row ? &charsets[row->id] : NULL;
}

const struct pd_charset *pd_charset_by_id(enum pd_charset_id id)
{
	return &charsets[id];
}

const char *pd_charset_how_name(enum pd_charset_how how)
{
	static const char *const names[] = {
		[PD_CHARSET_BOM] = "bom", [PD_CHARSET_HTTP] = "http", [PD_CHARSET_META] = "meta", [PD_CHARSET_XML] = "xml",
		[PD_CHARSET_DETECTED] = "detected", [PD_CHARSET_DEFAULT] = "default",
	};
	return (size_t)how < sizeof(names) / sizeof(names[0]) ? names[how] : "unknown";
}
