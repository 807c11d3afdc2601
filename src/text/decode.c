/* SPDX-License-Identifier: MIT
 *
 * Which charset it is (text.h says in what order), and the way there.  In: a page; out: its text.
 *
 * What is declared is tried first.  "Yields errors" counts, beside undecodable bytes, what decodes to characters that
 * no page means: C1 controls, private-use characters (Big5 read as gb2312), and, because windows-1252 reads anything,
 * what no western text looks like: valid UTF-8, and bytes beyond ASCII in long runs.  A page with a few bad bytes stays
 * what it declares, because a single-byte charset reads anything without an error: when under a twentieth of the bytes
 * beyond ASCII are errors, only a multi-byte charset that reads everything can win over another one.  When more are,
 * the detector's charset must leave a twentieth of them at most.
 * Valid UTF-8 needs no margin: no other text looks like it by chance.
 */
#include <stdlib.h>

#include "text/bytes.h"
#include "text/detect.h"
#include "text/sniff.h"

enum { MARGIN = 20 };

struct pd_text_decoder {
	struct pd_text_detector *detector;
	struct pd_text_table *tables[PD_CHARSETS];	/* made at first use */
	struct pd_buf spare;			/* the second attempt */
	struct pd_err err;			/* why a table could not be made: the page's text is then worth nothing */
};

/* One way to read a body. */
struct attempt {
	const struct pd_charset *charset;
	enum pd_charset_how how;
	struct pd_text_tally tally;
};

int pd_text_decoder_new(struct pd_text_decoder **out, struct pd_err *e)
{
	static const char *const probes[] = { "GB18030", "CP932", "KOI8-R" };
	*out = NULL;
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (pd_text_table_probe(probes[i], e) < 0)
			return PD_ERR_CHARSET;
	*out = pd_zalloc(sizeof(**out));
	(*out)->detector = pd_text_detector_new();
	return 0;
}

void pd_text_decoder_free(struct pd_text_decoder *d)
{
	if (!d)
		return;
	for (int i = 0; i < PD_CHARSETS; i++)
		pd_text_table_free(d->tables[i]);
	pd_text_detector_free(d->detector);
	pd_buf_release(&d->spare);
	free(d);
}

void pd_text_release(struct pd_text *t)
{
	pd_buf_release(&t->own);
	*t = (struct pd_text){ 0 };
}

static struct pd_text_table *table_of(struct pd_text_decoder *d, enum pd_charset_id id)
{
	if (id == PD_GBK)
		id = PD_GB18030;
	if (id == PD_ISO_2022_JP)
		id = PD_EUC_JP;
	if (!d->tables[id] && !d->err.status)
		d->tables[id] = pd_text_table_new(pd_charset_by_id(id), &d->err);
	return d->tables[id];
}

/* False when it cannot be decoded: `out` is then empty. */
static bool convert(struct pd_text_decoder *d, const struct pd_charset *c, struct pd_span in, struct pd_buf *out,
		    struct pd_text_tally *tally)
{
	struct pd_text_table *t;
	pd_buf_clear(out);
	*tally = (struct pd_text_tally){ 0 };
	switch ((enum pd_charset_kind)c->kind) {
	case PD_CHARSET_KIND_NONE:
		return false;
	case PD_CHARSET_KIND_UTF_8:
		pd_text_utf8_repair(in, out, tally);
		return true;
	case PD_CHARSET_KIND_UTF_16LE:
	case PD_CHARSET_KIND_UTF_16BE:
		pd_text_utf16_decode(in, c->kind == PD_CHARSET_KIND_UTF_16BE, out, tally);
		return true;
	default:
		t = table_of(d, c->id);
		if (t && c->kind == PD_CHARSET_KIND_ISO_2022_JP)
			pd_text_iso2022jp_decode(t->two, in, out, tally);
		else if (t)
			pd_text_bytes_decode(t, c->kind, in, out, tally);
		return t != NULL;
	}
}

static void finish(struct pd_text *out, const struct attempt *a)
{
	out->utf8 = pd_buf_span(&out->own);
	out->charset = a->charset;
	out->how = a->how;
	out->replaced = a->tally.bad;
}

/* The body as it stands, when it is clean UTF-8. */
static void finish_as_is(struct pd_text *out, struct pd_span body, enum pd_charset_how how)
{
	out->utf8 = body;
	out->charset = pd_charset_by_id(PD_UTF_8);
	out->how = how;
	out->replaced = 0;
}

static bool usable(const struct pd_charset *c)
{
	return c && c->kind != PD_CHARSET_KIND_NONE;
}

/* Labels in headers come with quotes now and then. */
static const struct pd_charset *from_http(struct pd_span label)
{
	label = pd_span_trim(label);
	if (label.n > 1 && (label.p[0] == '"' || label.p[0] == '\'') && label.p[label.n - 1] == label.p[0])
		label = pd_span(label.p + 1, label.n - 2);
	return pd_charset_by_label(label);
}

/* What is declared, by the first that names something usable. */
static bool declared(const struct pd_page *in, struct attempt *a)
{
	a->how = PD_CHARSET_HTTP;
	a->charset = from_http(in->charset);
	if (usable(a->charset))
		return true;
	if (in->type != PD_PAGE_HTML)
		return false;
	a->how = PD_CHARSET_META;
	a->charset = pd_text_sniff_meta(in->body);
	if (usable(a->charset))
		return true;
	a->how = PD_CHARSET_XML;
	a->charset = pd_text_sniff_xml(in->body);
	return usable(a->charset);
}

/* Western text has its letters beyond ASCII one or two at a time; GBK, Cyrillic and the like have them in runs.  A byte
 * that repeats (a line of dashes) does not make a run longer. */
static uint64_t unlikely_western(struct pd_span body)
{
	enum { RUN = 4 };
	uint64_t sum = 0, run = 0;
	for (size_t i = 0; i <= body.n; i++) {
		if (i < body.n && (unsigned char)body.p[i] >= 0x80) {
			run += i == 0 || body.p[i] != body.p[i - 1];
			continue;
		}
		sum += run >= RUN ? run : 0;
		run = 0;
	}
	return sum;
}

static uint64_t errors(const struct attempt *a, struct pd_span body)
{
	/* ASCII read as UTF-16 is Chinese without an error; markup in UTF-16 is full of zero bytes. */
	if (a->charset->kind == PD_CHARSET_KIND_UTF_16LE || a->charset->kind == PD_CHARSET_KIND_UTF_16BE)
		return memchr(body.p, 0, body.n) ? a->tally.bad : body.n;
	return a->tally.bad + a->tally.odd;
}

/* Are `errors` so few that they are an accident?  Bytes beyond ASCII are what they are a share of. */
static bool accident(uint64_t n_errors, struct pd_span body)
{
	uint64_t high = 0;
	if (!n_errors)
		return true;
	for (size_t i = 0; i < body.n; i++)
		high += (unsigned char)body.p[i] >> 7;
	return n_errors * MARGIN < high;
}

/* Is `b` so much better that what was declared must be wrong? */
static bool better(const struct attempt *b, const struct attempt *a, struct pd_span body)
{
	uint64_t before = errors(a, body), after = errors(b, body);
	if (!accident(before, body))
		return after * MARGIN <= before;
	return after == 0 && a->charset->kind > PD_CHARSET_KIND_SINGLE && b->charset->kind > PD_CHARSET_KIND_SINGLE;
}

/* Puts the detector's reading into `out` when it is better than `a`. */
static void second_opinion(struct pd_text_decoder *d, struct pd_span body, struct pd_text *out, struct attempt *a)
{
	struct attempt b = { .charset = pd_text_detect(d->detector, body), .how = PD_CHARSET_DETECTED };
	bool same = b.charset && b.charset->kind != PD_CHARSET_KIND_SINGLE && b.charset->kind == a->charset->kind;
	if (!usable(b.charset) || same || !convert(d, b.charset, body, &d->spare, &b.tally) || !better(&b, a, body))
		return;
	struct pd_buf mine = out->own;
	out->own = d->spare;
	d->spare = mine;
	*a = b;
}

/* Something is declared, and it is not clean UTF-8 declared as such. */
static bool decode_declared(struct pd_text_decoder *d, struct pd_span body, size_t clean, bool multibyte,
			    struct pd_text *out, struct attempt *a)
{
	if (!convert(d, a->charset, body, &out->own, &a->tally))
		return false;
	if (a->charset->id == PD_WINDOWS_1252)
		a->tally.odd += multibyte && clean == body.n ? body.n : unlikely_western(body);
	if (errors(a, body) == 0) {
		finish(out, a);
		return true;
	}
	bool utf8 = a->charset->kind == PD_CHARSET_KIND_UTF_8;
	bool utf16 = a->charset->kind == PD_CHARSET_KIND_UTF_16LE || a->charset->kind == PD_CHARSET_KIND_UTF_16BE;
	if (!utf8 && (multibyte || utf16) && pd_text_utf8_cut_at_end(body, clean)) {
		*a = (struct attempt){ .charset = pd_charset_by_id(PD_UTF_8), .how = PD_CHARSET_DETECTED };
		convert(d, a->charset, body, &out->own, &a->tally);
	} else if (!utf8 || !accident(errors(a, body), body)) {
		second_opinion(d, body, out, a);
	}
	finish(out, a);
	return true;
}

/* Nothing is declared: what gives itself away, UTF-8, the detector, windows-1252. */
static void decode_undeclared(struct pd_text_decoder *d, struct pd_span body, bool multibyte, struct pd_text *out)
{
	struct attempt a = { .how = PD_CHARSET_DETECTED, .charset = pd_text_detect_plain(body) };
	if (!a.charset || !convert(d, a.charset, body, &out->own, &a.tally)) {
		a.charset = pd_charset_by_id(PD_UTF_8);
		a.how = multibyte ? PD_CHARSET_DETECTED : PD_CHARSET_DEFAULT;
		convert(d, a.charset, body, &out->own, &a.tally);
	}
	if (a.charset->kind == PD_CHARSET_KIND_UTF_8 && !accident(a.tally.bad, body)) {
		a.how = PD_CHARSET_DETECTED;
		a.charset = pd_text_detect(d->detector, body);
		if (!usable(a.charset) || !convert(d, a.charset, body, &out->own, &a.tally)) {
			a.how = PD_CHARSET_DEFAULT;
			a.charset = pd_charset_by_id(PD_WINDOWS_1252);
			convert(d, a.charset, body, &out->own, &a.tally);
		}
	}
	finish(out, &a);
}

/* A mark of UTF-16 is the last word.  One of UTF-8 stands before GBK now and then, where a script glued files. */
static bool decode_utf16_mark(struct pd_text_decoder *d, struct pd_span body, struct pd_text *out, struct attempt *a)
{
	if (a->how != PD_CHARSET_BOM || a->charset->kind == PD_CHARSET_KIND_UTF_8)
		return false;
	convert(d, a->charset, body, &out->own, &a->tally);
	finish(out, a);
	return true;
}

static void decode(struct pd_text_decoder *d, const struct pd_page *in, struct pd_text *out)
{
	struct pd_span body = in->body;
	size_t mark;
	bool multibyte;
	if (!body.n) {
		finish_as_is(out, pd_span("", 0), PD_CHARSET_DEFAULT);
		return;
	}
	struct attempt a = { .how = PD_CHARSET_BOM, .charset = pd_text_sniff_bom(body, &mark) };
	bool named = a.charset || declared(in, &a);
	body = pd_span(body.p + mark, body.n - mark);
	if (named && decode_utf16_mark(d, body, out, &a))
		return;
	size_t clean = pd_text_utf8_clean(body, &multibyte);
	if (clean == body.n && (named ? a.charset->kind == PD_CHARSET_KIND_UTF_8 : multibyte || !pd_text_detect_plain(body)))
		finish_as_is(out, body, named ? a.how : multibyte ? PD_CHARSET_DETECTED : PD_CHARSET_DEFAULT);
	else if (!named || !decode_declared(d, body, clean, multibyte, out, &a))
		decode_undeclared(d, body, multibyte, out);
}

int pd_text_decode(struct pd_text_decoder *d, const struct pd_page *in, struct pd_text *out, struct pd_err *e)
{
	pd_buf_clear(&out->own);
	d->err = (struct pd_err){ 0 };
	decode(d, in, out);
	return d->err.status ? pd_fail(e, d->err.status, "%s", d->err.text) : PD_OK;
}
