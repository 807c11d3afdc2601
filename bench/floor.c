/* SPDX-License-Identifier: MIT
 *
 * The floor, the measure of comparison for fp: libxml2's SAX parser with empty handlers and HTML_PARSE_IGNORE_ENC over
 * the same pages.  The pages are decoded to UTF-8 before the time is taken.
 *
 * usage: floor [--repeat N] DUMP…      prints pages, bytes of UTF-8 and CPU seconds of one pass
 */
#include <inttypes.h>
#include <libxml/HTMLparser.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"
#include "read/page.h"
#include "read/reader.h"
#include "text/text.h"

struct pages {
	struct pd_buf *v;
	size_t n, cap, bytes;
};

static void on_damage(void *ctx, const struct pd_read_damage *d)
{
	fprintf(stderr, "floor: %s: %s\n", d->file, d->reason);
}

static void keep(struct pages *pages, struct pd_span utf8)
{
	pages->v = pd_grow(pages->v, pages->n, &pages->cap, sizeof *pages->v);
	pages->v[pages->n] = (struct pd_buf){ 0 };
	pd_buf_set(&pages->v[pages->n++], utf8);
	pages->bytes += utf8.n;
}

static int load(struct pages *pages, char **paths, int n)
{
	struct pd_reader_options o = { .inputs = paths, .n_inputs = n, .max_block = 5 << 20, .damage = on_damage };
	struct pd_reader *reader;
	struct pd_text_decoder *decoder = pd_text_decoder_new();
	struct pd_record record = { 0 };
	struct pd_page page;
	struct pd_text text = { 0 };
	struct pd_err e;
	if (pd_reader_open(&reader, &o, &e)) {
		fprintf(stderr, "floor: %s\n", e.text);
		return -1;
	}
	struct pd_page_opener *opener = pd_page_opener_new(&(struct pd_page_options){ .max_page = 4 << 20 });
	while (pd_reader_next(reader, &record, &e) > 0) {
		if (pd_page_open(opener, &record, &page, NULL) != PD_SKIP_NONE)
			continue;
		pd_text_decode(decoder, &page, &text);
		keep(pages, text.utf8);
	}
	pd_page_opener_free(opener);
	pd_text_decoder_free(decoder);
	pd_reader_free(reader);
	pd_record_release(&record);
	pd_text_release(&text);
	return 0;
}

static void on_start(void *ctx, const xmlChar *name, const xmlChar **atts)
{
}

static void on_end(void *ctx, const xmlChar *name)
{
}

static void on_text(void *ctx, const xmlChar *text, int n)
{
}

static void parse(const struct pd_buf *page)
{
	static htmlSAXHandler sax = { .startElement = on_start,
				      .endElement = on_end,
				      .characters = on_text,
				      .cdataBlock = on_text,
				      .ignorableWhitespace = on_text };
	htmlParserCtxtPtr c = htmlCreateMemoryParserCtxt(page->p, (int)page->n);
	if (!c)
		return;
	xmlSAXHandler own = *c->sax;
	*c->sax = sax;
	htmlCtxtUseOptions(c, HTML_PARSE_IGNORE_ENC | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
	c->sax->error = NULL;
	htmlParseDocument(c);
	*c->sax = own;
	if (c->myDoc)
		xmlFreeDoc(c->myDoc);
	htmlFreeParserCtxt(c);
}

int main(int argc, char **argv)
{
	struct pages pages = { 0 };
	int repeat = 1, first = 1;
	if (argc > 2 && !strcmp(argv[1], "--repeat")) {
		repeat = atoi(argv[2]);
		first = 3;
	}
	if (first >= argc || load(&pages, argv + first, argc - first))
		return 2;
	double t = pd_cpu_seconds();
	for (int r = 0; r < repeat; r++)
		for (size_t i = 0; i < pages.n; i++)
			parse(&pages.v[i]);
	t = (pd_cpu_seconds() - t) / repeat;
	printf("%zu pages, %zu bytes, %.3f CPU seconds, %.1f MB/s\n", pages.n, pages.bytes, t, (double)pages.bytes * 1e-6 / t);
	return 0;
}
