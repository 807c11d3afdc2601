/* SPDX-License-Identifier: MIT
 *
 * See the header.  The only file that knows libxml2.
 *
 * libxml2 keeps the stack of open elements; what is kept here is the part of it that sends events, each with its level
 * in that stack.  A start at level L says that whatever we hold at L or deeper has ended, an end at L closes it: so the
 * events nest well even where libxml2 is silent about an end (it is when an end tag is missing at the end of the page,
 * and after its stack was cut, see cut_stack).
 */
#include "page/html.h"

#include <libxml/HTMLparser.h>
#include <libxml/globals.h>
#include <stdlib.h>

#include "base/threads.h"
#include "page/clean.h"

#define OPTIONS (HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET | \
		 HTML_PARSE_IGNORE_ENC)
#define CACHE_SIZE 512		/* a power of two, over twice the number of tags */
#define DICT_MAX 8192		/* names; after that the parser, which keeps them, is made anew */
#define LEVELS_MAX (PD_DEPTH_MAX + 128)

struct element {
	int level;	/* in libxml2's stack */
	enum pd_tag tag;
};

/* libxml2 interns names: a tag is looked up once for each address. */
struct cached {
	const xmlChar *name;
	enum pd_tag tag;
};

struct pd_saxer {
	const struct pd_html_sink *sink;
	void *self;
	htmlParserCtxtPtr ctxt;
	struct pd_cleaner cleaner;
	struct element open[PD_DEPTH_MAX];
	int n;
	int ignored;		/* level of the ignored element that we are in, or 0 */
	bool html, body;	/* open(html), open(body) have been sent */
	struct cached cache[CACHE_SIZE];
};

static enum pd_tag tag_of(struct pd_saxer *s, const xmlChar *name)
{
	size_t i = ((uintptr_t)name * 0x9E3779B97F4A7C15u) >> 40;
	struct cached *c = &s->cache[i % CACHE_SIZE];
	if (c->name != name)
		*c = (struct cached){ name, pd_tag_by_name((const char *)name) };
	return c->tag;
}

/* Closes what is open at `level` or deeper. */
static void close_from(struct pd_saxer *s, int level)
{
	while (s->n && s->open[s->n - 1].level >= level)
		s->sink->close(s->self, s->open[--s->n].tag);
}

/* libxml2 looks for the element of an end tag through its whole stack: a deep page without end tags would take
 * quadratic time.  Beyond our own depth it is made to forget all but the innermost element. */
static void cut_stack(struct pd_saxer *s)
{
	htmlParserCtxtPtr c = s->ctxt;
	c->nameTab[PD_DEPTH_MAX] = c->nameTab[c->nameNr - 1];
	c->nameNr = PD_DEPTH_MAX + 1;
	if (s->ignored > PD_DEPTH_MAX)
		s->ignored = PD_DEPTH_MAX;
}

static size_t attributes(const xmlChar **atts, struct pd_attr *to)
{
	size_t n = 0;
	for (; atts && atts[0] && n < PD_ATTRS_MAX; atts += 2) {
		const char *name = (const char *)atts[0], *value = atts[1] ? (const char *)atts[1] : "";
		struct pd_attr *a = &to[n++];
		a->name = pd_span_z(name);
		a->value = pd_span_z(value);
		a->id = pd_attr_by_name(a->name);
	}
	return n;
}

static void send_open(struct pd_saxer *s, enum pd_tag t, const xmlChar **atts)
{
	struct pd_attr attrs[PD_ATTRS_MAX];
	size_t n = attributes(atts, attrs);
	s->sink->open(s->self, t, attrs, n);
}

static void need_html(struct pd_saxer *s)
{
	if (!s->html)
		send_open(s, PD_TAG_html, NULL);
	s->html = true;
}

/* html and body stay open to the end; whatever else is open ends where the body begins. */
static void open_root(struct pd_saxer *s, enum pd_tag t, const xmlChar **atts)
{
	bool *sent = t == PD_TAG_html ? &s->html : &s->body;
	if (*sent)
		return;
	if (t == PD_TAG_body) {
		need_html(s);
		close_from(s, 0);
		s->ignored = 0;
	}
	*sent = true;
	send_open(s, t, atts);
}

static void on_start(void *ctx, const xmlChar *name, const xmlChar **atts)
{
	struct pd_saxer *s = ctx;
	if (s->ctxt->nameNr > LEVELS_MAX)
		cut_stack(s);
	int level = s->ctxt->nameNr;
	enum pd_tag t = tag_of(s, name);
	if (t == PD_TAG_html || t == PD_TAG_body) {
		open_root(s, t, atts);
		return;
	}
	if (s->ignored && level > s->ignored)
		return;
	s->ignored = 0;
	close_from(s, level);
	if (t == PD_TAG_NONE)
		return;
	if (pd_tag_class(t) == PD_CLASS_IGNORE) {
		s->ignored = level;
		return;
	}
	if (s->n == PD_DEPTH_MAX - 2)	/* html and body are not in `open` */
		return;
	need_html(s);
	send_open(s, t, atts);
	if (pd_tag_void(t))
		s->sink->close(s->self, t);
	else
		s->open[s->n++] = (struct element){ level, t };
}

static void on_end(void *ctx, const xmlChar *name)
{
	struct pd_saxer *s = ctx;
	int level = s->ctxt->nameNr;
	enum pd_tag t = tag_of(s, name);
	if (t == PD_TAG_html || t == PD_TAG_body || (s->ignored && level > s->ignored))
		return;
	s->ignored = 0;
	close_from(s, level);
}

static void on_text(void *ctx, const xmlChar *p, int n)
{
	struct pd_saxer *s = ctx;
	if (s->ignored || n <= 0)
		return;
	need_html(s);
	s->sink->text(s->self, pd_span((const char *)p, (size_t)n));
}

void pd_html_own_memory(void)
{
	xmlMemSetup(free, pd_alloc, pd_realloc, pd_strdup);
}

/* A parser without a document: our handlers in place of those that build a tree. */
static void renew(struct pd_saxer *s)
{
	static const char nothing[1] = "";
	if (s->ctxt)
		htmlFreeParserCtxt(s->ctxt);
	s->ctxt = NULL;
	s->ctxt = pd_have(htmlCreateMemoryParserCtxt(nothing, sizeof(nothing)));
	*s->ctxt->sax = (xmlSAXHandler){
		.startElement = on_start,
		.endElement = on_end,
		.characters = on_text,
		.ignorableWhitespace = on_text,
		.cdataBlock = on_text,
	};
	s->ctxt->userData = s;
	memset(s->cache, 0, sizeof(s->cache));
}

struct pd_saxer *pd_saxer_new(const struct pd_html_sink *sink, void *self, bool all_attributes)
{
	static int ready;
	struct pd_saxer *s = pd_zalloc(sizeof(*s));
	/* libxml2 would do so by itself with the first parser, but not safely when threads make their first at once. */
	pd_once(&ready, xmlInitParser);
	s->sink = sink;
	s->self = self;
	s->cleaner.all = all_attributes;
	renew(s);
	return s;
}

void pd_saxer_free(struct pd_saxer *s)
{
	if (!s)
		return;
	htmlFreeParserCtxt(s->ctxt);
	pd_cleaner_release(&s->cleaner);
	free(s);
}

size_t pd_saxer_run(struct pd_saxer *s, struct pd_span utf8, bool unfold)
{
	/* libxml2 keeps something for each thread, and would go on without it when there is no memory. */
	pd_have(xmlGetGlobalState());
	s->cleaner.unfold = unfold;
	struct pd_span clean = pd_clean(&s->cleaner, utf8);
	if (xmlDictSize(s->ctxt->dict) > DICT_MAX)
		renew(s);
	s->n = 0;
	s->ignored = 0;
	s->html = s->body = false;
	if (clean.n && clean.n <= INT32_MAX)
		htmlCtxtReadMemory(s->ctxt, clean.p, (int)clean.n, NULL, "UTF-8", OPTIONS);
	if (s->ctxt->errNo == XML_ERR_NO_MEMORY)
		pd_out_of_memory();
	need_html(s);
	close_from(s, 0);
	if (s->body)
		s->sink->close(s->self, PD_TAG_body);
	s->sink->close(s->self, PD_TAG_html);
	pd_buf_shrink(&s->cleaner.out, 16 << 20);
	return s->cleaner.noscript;
}
