/* SPDX-License-Identifier: MIT
 *
 * A page -> its text: what charset labels mean, what the first bytes of a body say of its charset, what a detector guesses
 * from the bytes alone, and who of them decides.
 */
#include "text/text.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <uchardet.h>

#include "text/table.h"

/* 1. Labels.  What a charset label means to a browser.  In: a label as found on the web; out: one of 40 encodings, or nothing.
 * Both tables are the WHATWG Encoding Standard's, because pages are written until browsers show them right: what
 * IANA's registry says of "gb2312" or "iso-8859-1" is not what such pages hold. */

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

/* 2. Byte order mark, XML declaration and <meta>.  The declaration follows WHATWG HTML, "get an XML encoding". */

#define SNIFF_BYTES 1024	/* WHATWG HTML: how far a browser looks */

static const struct pd_charset *sniff_bom(struct pd_span body, size_t *length)
{
	const unsigned char *p = (const unsigned char *)body.p;
	*length = 2;
	if (body.n >= 2 && p[0] == 0xFF && p[1] == 0xFE)
		return pd_charset_by_id(PD_UTF_16LE);
	if (body.n >= 2 && p[0] == 0xFE && p[1] == 0xFF)
		return pd_charset_by_id(PD_UTF_16BE);
	*length = 3;
	if (body.n >= 3 && p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF)
		return pd_charset_by_id(PD_UTF_8);
	*length = 0;
	return NULL;
}

static void skip_blank(struct pd_span *s)
{
	while (s->n && (unsigned char)s->p[0] <= 0x20)
		s->p++, s->n--;
}

/* The value of `encoding` in a declaration, or nothing. */
static struct pd_span encoding_value(struct pd_span s)
{
	const struct pd_span none = { 0 }, name = pd_span_z("encoding");
	ptrdiff_t at = pd_span_find(s, name);
	if (at < 0)
		return none;
	s = pd_span(s.p + at + name.n, s.n - (size_t)at - name.n);
	skip_blank(&s);
	if (!s.n || s.p[0] != '=')
		return none;
	s.p++, s.n--;
	skip_blank(&s);
	if (!s.n || (s.p[0] != '"' && s.p[0] != '\''))
		return none;
	const char *end = memchr(s.p + 1, s.p[0], s.n - 1);
	return end ? pd_span(s.p + 1, (size_t)(end - s.p - 1)) : none;
}

static const struct pd_charset *sniff_xml(struct pd_span body)
{
	if (body.n > SNIFF_BYTES)
		body.n = SNIFF_BYTES;
	if (body.n >= 6 && !memcmp(body.p, "<\0?\0x", 6))
		return pd_charset_by_id(PD_UTF_16LE);
	if (body.n >= 6 && !memcmp(body.p, "\0<\0?\0x", 6))
		return pd_charset_by_id(PD_UTF_16BE);
	if (body.n < 5 || memcmp(body.p, "<?xml", 5))
		return NULL;
	const char *end = memchr(body.p, '>', body.n);
	if (!end)
		return NULL;
	const struct pd_charset *c = pd_charset_by_label(encoding_value(pd_span(body.p, (size_t)(end - body.p))));
	/* It could not have been read, were it true. */
	if (c && (c->id == PD_UTF_16LE || c->id == PD_UTF_16BE))
		return pd_charset_by_id(PD_UTF_8);
	return c;
}

/* --- <meta> --- */

/*
 * <meta> in the first 1,024 bytes: WHATWG HTML, "prescan a byte stream to determine its encoding", "get an attribute"
 * and "extracting a character encoding from a meta element".  In: a body; out: the first charset that a meta element
 * declares and a browser knows.  No parser: this must work before the bytes are characters.
 */

struct attribute {
	struct pd_span name, value;
};

/* What the attributes of one meta element said so far. */
struct meta {
	bool seen_http_equiv, seen_content, seen_charset;
	bool got_pragma;		/* http-equiv="content-type" */
	bool declared, need_pragma;	/* something was declared; by `content` */
	const struct pd_charset *charset;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void skip(struct pd_span *s, size_t n)
{
	n = n < s->n ? n : s->n;
	s->p += n;
	s->n -= n;
}

static void skip_white(struct pd_span *s)
{
	while (s->n && blank(s->p[0]))
		skip(s, 1);
}

/* Takes what stands before the first byte that ends it. */
static struct pd_span take(struct pd_span *s, bool (*ends)(char))
{
	size_t n = 0;
	while (n < s->n && !ends(s->p[n]))
		n++;
	struct pd_span part = pd_span(s->p, n);
	skip(s, n);
	return part;
}

static bool ends_tag_name(char c)
{
	return blank(c) || c == '>';
}

static bool ends_name(char c)
{
	return ends_tag_name(c) || c == '/' || c == '=';
}

static bool ends_label(char c)
{
	return blank(c) || c == ';';
}

/* What stands between two quotes, after the first; used up when the second is missing. */
static struct pd_span quoted(struct pd_span *s, bool *closed)
{
	const char *end = s->n ? memchr(s->p + 1, s->p[0], s->n - 1) : NULL;
	*closed = end != NULL;
	size_t n = end ? (size_t)(end - s->p) : s->n;
	struct pd_span part = n ? pd_span(s->p + 1, n - 1) : pd_span(s->p, 0);
	skip(s, n + 1);
	return part;
}

/* False: the element ended, or the bytes did. */
static bool next_attribute(struct pd_span *s, struct attribute *a)
{
	bool closed = true;
	while (s->n && (blank(s->p[0]) || s->p[0] == '/'))
		skip(s, 1);
	if (!s->n || s->p[0] == '>')
		return false;
	size_t first = s->p[0] == '=';	/* a name may begin with it */
	struct pd_span rest = pd_span(s->p + first, s->n - first);
	a->name = take(&rest, ends_name);
	a->name.p -= first;
	a->name.n += first;
	a->value = pd_span(rest.p, 0);
	*s = rest;
	skip_white(s);
	if (!s->n || s->p[0] != '=')
		return s->n != 0;
	skip(s, 1);
	skip_white(s);
	if (s->n && (s->p[0] == '"' || s->p[0] == '\''))
		a->value = quoted(s, &closed);
	else
		a->value = take(s, ends_tag_name);
	/* A value that the bytes cut is none. */
	return closed && s->n;
}

/* "text/html; charset=gb2312" -> gb2312 */
static const struct pd_charset *from_content(struct pd_span s)
{
	bool closed = true;
	for (; s.n; skip(&s, 1)) {
		if (!pd_span_istarts(s, "charset"))
			continue;
		struct pd_span v = pd_span(s.p + 7, s.n - 7);
		skip_white(&v);
		if (!v.n || v.p[0] != '=')
			continue;
		skip(&v, 1);
		skip_white(&v);
		if (v.n && (v.p[0] == '"' || v.p[0] == '\''))
			v = quoted(&v, &closed);
		else
			v = take(&v, ends_label);
		return closed ? pd_charset_by_label(v) : NULL;
	}
	return NULL;
}

/* True the first time. */
static bool first(bool *seen)
{
	bool before = *seen;
	*seen = true;
	return !before;
}

static void on_attribute(struct meta *m, const struct attribute *a)
{
	if (pd_span_ieq(a->name, "http-equiv") && first(&m->seen_http_equiv)) {
		m->got_pragma = pd_span_ieq(a->value, "content-type");
	} else if (pd_span_ieq(a->name, "content") && first(&m->seen_content)) {
		const struct pd_charset *c = from_content(a->value);
		if (c && !m->charset) {
			m->charset = c;
			m->declared = m->need_pragma = true;
		}
	} else if (pd_span_ieq(a->name, "charset") && first(&m->seen_charset)) {
		m->charset = pd_charset_by_label(a->value);
		m->declared = true;
		m->need_pragma = false;
	}
}

/* A browser that could read the declaration does not believe these two. */
static const struct pd_charset *believed(const struct pd_charset *c)
{
	if (c->id == PD_UTF_16LE || c->id == PD_UTF_16BE)
		return pd_charset_by_id(PD_UTF_8);
	return c->id == PD_USER_DEFINED ? pd_charset_by_id(PD_WINDOWS_1252) : c;
}

/* After "<meta" and the byte behind it. */
static const struct pd_charset *meta_element(struct pd_span *s)
{
	struct meta m = { 0 };
	struct attribute a;
	while (next_attribute(s, &a))
		on_attribute(&m, &a);
	if (!s->n || !m.declared || (m.need_pragma && !m.got_pragma) || !m.charset)
		return NULL;
	return believed(m.charset);
}

static void skip_past(struct pd_span *s, const char *what)
{
	ptrdiff_t at = pd_span_find(*s, pd_span_z(what));
	skip(s, at < 0 ? s->n : (size_t)at + strlen(what));
}

static bool letter(char c)
{
	return pd_ascii_lower(c) >= 'a' && pd_ascii_lower(c) <= 'z';
}

/* A "<" that begins neither a comment nor meta. */
static void skip_markup(struct pd_span *s)
{
	struct attribute a;
	size_t slash = s->n > 1 && s->p[1] == '/';
	if (s->n > 1 + slash && letter(s->p[1 + slash])) {
		take(s, ends_tag_name);
		while (next_attribute(s, &a))
			continue;
	} else if (s->n > 1 && (slash || s->p[1] == '!' || s->p[1] == '?')) {
		skip_past(s, ">");
	} else {
		skip(s, 1);
	}
}

static const struct pd_charset *sniff_meta(struct pd_span body)
{
	struct pd_span s = pd_span(body.p, body.n < SNIFF_BYTES ? body.n : SNIFF_BYTES);
	while (s.n) {
		if (s.p[0] != '<') {
			skip(&s, 1);
		} else if (pd_span_istarts(s, "<!--")) {
			skip(&s, 2);	/* the dashes may close it too: <!--> */
			skip_past(&s, "-->");
		} else if (pd_span_istarts(s, "<meta") && s.n > 5 && (blank(s.p[5]) || s.p[5] == '/')) {
			skip(&s, 5);
			const struct pd_charset *c = meta_element(&s);
			if (c)
				return c;
		} else {
			skip_markup(&s);
		}
	}
	return NULL;
}

/* 3. The detector: uchardet (the one file that includes it), whose names become WHATWG's.  It sees a bounded
 * extract of the body, what is not ASCII and a little around it, because markup says nothing and costs time. */

enum { LOOK = 1 << 14, AROUND = 16, EVIDENCE = 4 };

struct detector {
	uchardet_t handle;
	struct pd_buf extract;
};

/* uchardet is C++: std::set_new_handler, found by its name there, so that nothing of that language is linked here. */
void pd_text_own_memory(void)
{
	void (*(*set_handler)(void (*)(void)))(void);
	*(void **)&set_handler = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
	if (set_handler)
		set_handler(pd_out_of_memory);
}

static struct detector *detector_new(void)
{
	struct detector *d = pd_zalloc(sizeof(*d));
	d->handle = pd_have(uchardet_new());
	return d;
}

static void detector_free(struct detector *d)
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

static const struct pd_charset *detect(struct detector *d, struct pd_span body)
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

static const struct pd_charset *detect_plain(struct pd_span body)
{
	return iso2022jp(body) ? pd_charset_by_id(PD_ISO_2022_JP) : utf16(body);
}

/* 4. Which charset it is (text.h says in what order), and the way there.  In: a page; out: its text.
 *
 * What is declared is tried first.  "Yields errors" counts, beside undecodable bytes, what decodes to characters that
 * no page means: C1 controls, private-use characters (Big5 read as gb2312), and, because windows-1252 reads anything,
 * what no western text looks like: valid UTF-8, and bytes beyond ASCII in long runs.  A page with a few bad bytes stays
 * what it declares, because a single-byte charset reads anything without an error: when under a twentieth of the bytes
 * beyond ASCII are errors, only a multi-byte charset that reads everything can win over another one.  When more are,
 * the detector's charset must leave a twentieth of them at most.
 * Valid UTF-8 needs no margin: no other text looks like it by chance. */

enum { MARGIN = 20 };

struct pd_text_decoder {
	struct detector *detector;
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
	(*out)->detector = detector_new();
	return 0;
}

void pd_text_decoder_free(struct pd_text_decoder *d)
{
	if (!d)
		return;
	for (int i = 0; i < PD_CHARSETS; i++)
		pd_text_table_free(d->tables[i]);
	detector_free(d->detector);
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
		if (t)
			pd_text_table_decode(t, c->kind, in, out, tally);
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
	a->charset = sniff_meta(in->body);
	if (usable(a->charset))
		return true;
	a->how = PD_CHARSET_XML;
	a->charset = sniff_xml(in->body);
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
	struct attempt b = { .charset = detect(d->detector, body), .how = PD_CHARSET_DETECTED };
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
	struct attempt a = { .how = PD_CHARSET_DETECTED, .charset = detect_plain(body) };
	if (!a.charset || !convert(d, a.charset, body, &out->own, &a.tally)) {
		a.charset = pd_charset_by_id(PD_UTF_8);
		a.how = multibyte ? PD_CHARSET_DETECTED : PD_CHARSET_DEFAULT;
		convert(d, a.charset, body, &out->own, &a.tally);
	}
	if (a.charset->kind == PD_CHARSET_KIND_UTF_8 && !accident(a.tally.bad, body)) {
		a.how = PD_CHARSET_DETECTED;
		a.charset = detect(d->detector, body);
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
	struct attempt a = { .how = PD_CHARSET_BOM, .charset = sniff_bom(body, &mark) };
	bool named = a.charset || declared(in, &a);
	body = pd_span(body.p + mark, body.n - mark);
	if (named && decode_utf16_mark(d, body, out, &a))
		return;
	size_t clean = pd_text_utf8_clean(body, &multibyte);
	if (clean == body.n && (named ? a.charset->kind == PD_CHARSET_KIND_UTF_8 : multibyte || !detect_plain(body)))
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
