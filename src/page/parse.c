/* SPDX-License-Identifier: MIT */
#include "page/parse.h"

#include <stdlib.h>

#include "page/build.h"
#include "page/html.h"
#include "page/meta.h"
#include "page/xhtml.h"

/* A page whose noscripts hold so many times the bytes of the text that it shows is an application, which writes its text
 * by script: it is read as those read it who run none. */
#define NOSCRIPT_TIMES 16
/* A page of at most so many bytes, with at most so many of text, may be there for a script that sends its readers on. */
#define SCRIPT_PAGE 16384
#define SCRIPT_TEXT 200

struct pd_html {
	struct pd_html_options options;
	struct pd_builder *builder;
	struct pd_meta_finder meta;
	struct pd_saxer *saxer;
	struct pd_blocks *out;
	size_t hidden;		/* open elements from the outermost hidden one on */
};

/* The page itself is never hidden: scripts that show it late are common, and no text at all is no answer. */
static bool hides(const struct pd_html *h, enum pd_tag t, const struct pd_attr *attrs, size_t n)
{
	return h->hidden || (h->options.drop_hidden && n && t != PD_TAG_html && t != PD_TAG_body && pd_attrs_hide(t, attrs, n));
}

static void on_open(void *self, enum pd_tag t, const struct pd_attr *attrs, size_t n)
{
	struct pd_html *h = self;
	size_t markup = h->out->xhtml.n;
	if (h->options.keep_xhtml)
		pd_xhtml_open(&h->out->xhtml, t, attrs, n);
	if (hides(h, t, attrs, n)) {
		h->hidden++;
		return;
	}
	if (n)
		pd_meta_open(&h->meta, t, attrs, n, h->out);
	pd_build_open(h->builder, t, attrs, n, markup);
}

static void on_close(void *self, enum pd_tag t)
{
	struct pd_html *h = self;
	if (h->options.keep_xhtml)
		pd_xhtml_close(&h->out->xhtml, t);
	if (h->hidden)
		h->hidden--;
	else
		pd_build_close(h->builder, t, h->out->xhtml.n);
}

static void on_text(void *self, struct pd_span s)
{
	struct pd_html *h = self;
	if (h->options.keep_xhtml)
		pd_xhtml_text(&h->out->xhtml, s);
	if (!h->hidden)
		pd_build_text(h->builder, s);
}

static const struct pd_html_sink sink = { on_open, on_close, on_text };

struct pd_html *pd_html_new(const struct pd_html_options *o)
{
	struct pd_html *h = pd_zalloc(sizeof(*h));
	h->options = *o;
	h->builder = pd_builder_new(o->min_chars, o->min_levels);
	h->saxer = pd_saxer_new(&sink, h, o->keep_xhtml);
	return h;
}

void pd_html_free(struct pd_html *h)
{
	if (!h)
		return;
	pd_saxer_free(h->saxer);
	pd_builder_free(h->builder);
	free(h);
}

/* Plain text: blank lines end a paragraph (a div), every other line is a p. */
static void plain_text(struct pd_html *h, struct pd_span text)
{
	struct pd_span line;
	bool inside = false;
	on_open(h, PD_TAG_html, NULL, 0);
	on_open(h, PD_TAG_body, NULL, 0);
	while (pd_span_split(&text, '\n', &line)) {
		bool blank = pd_span_trim(line).n == 0;
		if (inside && blank)
			on_close(h, PD_TAG_div);
		if (!inside && !blank)
			on_open(h, PD_TAG_div, NULL, 0);
		inside = !blank;
		if (blank)
			continue;
		on_open(h, PD_TAG_p, NULL, 0);
		on_text(h, line);
		on_close(h, PD_TAG_p);
	}
	if (inside)
		on_close(h, PD_TAG_div);
	on_close(h, PD_TAG_body);
	on_close(h, PD_TAG_html);
}

enum way { PLAIN, HTML, UNFOLDED };

/* Returns the bytes that stand in long noscripts. */
static size_t read_page(struct pd_html *h, struct pd_span utf8, enum way way, struct pd_blocks *out)
{
	size_t noscript = 0;
	pd_blocks_clear(out);
	h->out = out;
	h->hidden = 0;
	pd_meta_start(&h->meta);
	pd_build_start(h->builder, out);
	if (way == PLAIN)
		plain_text(h, utf8);
	else
		noscript = pd_saxer_run(h->saxer, utf8, way == UNFOLDED);
	pd_build_end(h->builder);
	pd_meta_end(out);
	return noscript;
}

/* Bytes of text that is neither in links nor the title. */
static size_t shown_text(const struct pd_blocks *b)
{
	size_t n = 0;
	for (size_t i = 0; i < b->n_runs; i++)
		if (!(b->runs[i].flags & PD_RUN_LINK) && b->boxes[b->runs[i].box].tag != PD_TAG_title)
			n += b->runs[i].n;
	return n;
}

/* Does a script set the page's address: location = …, location.href = …, location.replace(…), location.assign(…)? */
static bool script_sends_on(struct pd_span html)
{
	static const char word[] = "location";
	const char *end = html.p + html.n;
	for (const char *p = html.p; (p = memmem(p, (size_t)(end - p), word, sizeof word - 1)); ) {
		p += sizeof word - 1;
		struct pd_span rest = pd_span(p, (size_t)(end - p));
		if (pd_span_istarts(rest, ".replace(") || pd_span_istarts(rest, ".assign("))
			return true;
		if (pd_span_istarts(rest, ".href"))
			rest = pd_span(rest.p + 5, rest.n - 5);
		while (rest.n && pd_ascii_space(*rest.p))
			rest = pd_span(rest.p + 1, rest.n - 1);
		if (rest.n > 1 && rest.p[0] == '=' && rest.p[1] != '=')
			return true;
	}
	return false;
}

int pd_html_parse(struct pd_html *h, struct pd_span utf8, bool plain, struct pd_blocks *out)
{
	size_t noscript = read_page(h, utf8, plain ? PLAIN : HTML, out);
	if (!plain && utf8.n <= SCRIPT_PAGE && shown_text(out) <= SCRIPT_TEXT)
		out->redirects |= script_sends_on(utf8);
	if (noscript / NOSCRIPT_TIMES <= shown_text(out))
		return PD_OK;
	read_page(h, utf8, UNFOLDED, out);
	out->noscript = true;
	return PD_OK;
}
