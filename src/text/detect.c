/* SPDX-License-Identifier: MIT
 *
 * The detector: uchardet (the one file that includes it), whose names become WHATWG's.  It sees a bounded
 * extract of the body, what is not ASCII and a little around it, because markup says nothing and costs time.
 */
#include "text/detect.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <uchardet.h>

#include "text/utf8.h"

enum { LOOK = 1 << 14, AROUND = 16, EVIDENCE = 4 };

struct pd_text_detector {
	uchardet_t handle;
	struct pd_buf extract;
};

/* uchardet is C++: std::set_new_handler, found by its name there, so that nothing of that language is linked here. */
void pd_detect_own_memory(void)
{
	void (*(*set_handler)(void (*)(void)))(void);
	*(void **)&set_handler = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
	if (set_handler)
		set_handler(pd_out_of_memory);
}

struct pd_text_detector *pd_text_detector_new(void)
{
	struct pd_text_detector *d = pd_zalloc(sizeof(*d));
	d->handle = pd_have(uchardet_new());
	return d;
}

void pd_text_detector_free(struct pd_text_detector *d)
{
	if (!d)
		return;
	uchardet_delete(d->handle);
	pd_buf_release(&d->extract);
	free(d);
}

/* uchardet's names that are no labels of the web, or mean something else there. */
static const struct pd_charset *by_name(const char *name)
{
	if (!strcmp(name, "ASCII"))
		return NULL;
	if (!strcmp(name, "UHC"))
		return pd_charset_by_id(PD_EUC_KR);
	if (!strcmp(name, "MAC-CYRILLIC"))
		return pd_charset_by_id(PD_X_MAC_CYRILLIC);
	const struct pd_charset *c = pd_charset_by_label(pd_span_z(name));
	return c && c->id != PD_REPLACEMENT ? c : NULL;
}

/* Long runs of ASCII shrink to their ends.  What follows a lead byte is among them, so no character is cut but the
 * last. */
static void extract(struct pd_span body, struct pd_buf *out)
{
	const unsigned char *p = (const unsigned char *)body.p, *end = p + body.n;
	pd_buf_clear(out);
	while (p < end && out->n < LOOK) {
		size_t k = pd_text_ascii_run(p, (size_t)(end - p));
		if (k > 2 * AROUND) {
			if (out->n)
				pd_buf_add(out, p, AROUND);
			pd_buf_add_c(out, '\n');
			p += k - AROUND;
			k = AROUND;
		}
		const unsigned char *q = p + k;
		while (q < end && (*q >= 0x80 || *q == 0))
			q++;
		pd_buf_add(out, p, (size_t)(q - p) < LOOK ? (size_t)(q - p) : LOOK);
		p = q;
	}
}

/* A single-byte charset makes letters of any byte: one or two of them prove none. */
static bool proven(const struct pd_charset *c, struct pd_span text)
{
	int high = 0;
	for (size_t i = 0; i < text.n && high < EVIDENCE; i++)
		high += (unsigned char)text.p[i] >> 7;
	return c->kind != PD_CHARSET_KIND_SINGLE || high == EVIDENCE;
}

const struct pd_charset *pd_text_detect(struct pd_text_detector *d, struct pd_span body)
{
	extract(body, &d->extract);
	uchardet_reset(d->handle);
	if (uchardet_handle_data(d->handle, d->extract.p, d->extract.n) != 0)	/* it names no other reason */
		pd_out_of_memory();
	uchardet_data_end(d->handle);
	const struct pd_charset *c = by_name(uchardet_get_charset(d->handle));
	return c && proven(c, pd_buf_span(&d->extract)) ? c : NULL;
}

/* By where the zero bytes of its ASCII stand: there is much of that in any page. */
static const struct pd_charset *utf16(struct pd_span body)
{
	size_t zeroes[2] = { 0, 0 }, n = body.n < 1024 ? body.n : 1024;
	for (size_t i = 0; i < n; i++)
		zeroes[i & 1] += body.p[i] == 0;
	if (zeroes[1] > n / 8 && zeroes[0] * 8 <= zeroes[1])
		return pd_charset_by_id(PD_UTF_16LE);
	if (zeroes[0] > n / 8 && zeroes[1] * 8 <= zeroes[0])
		return pd_charset_by_id(PD_UTF_16BE);
	return NULL;
}

/* Escape sequences in what is ASCII otherwise. */
static bool iso2022jp(struct pd_span body)
{
	return (pd_span_find(body, pd_span_z("\x1B$B")) >= 0 || pd_span_find(body, pd_span_z("\x1B$@")) >= 0) &&
	       pd_text_ascii_run((const unsigned char *)body.p, body.n) == body.n;
}

const struct pd_charset *pd_text_detect_plain(struct pd_span body)
{
	return iso2022jp(body) ? pd_charset_by_id(PD_ISO_2022_JP) : utf16(body);
}
