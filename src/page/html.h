/* SPDX-License-Identifier: MIT
 *
 * UTF-8 HTML of any quality -> clean events (patent CN101645082, module 120).  Cleaned source goes through libxml2's SAX
 * parser, which knows what closes what; out come open, close and text, whatever the page is:
 *
 * - they nest well, and the first is open(html), the last close(html);
 * - only tags of the table (tags.def); of what is ignored (PD_CLASS_IGNORE) nothing, with all that is in it;
 * - at most PD_DEPTH_MAX elements are open: deeper ones send no events, their text comes all the same;
 * - <body>, once open, stays open to the end: text after </body> or </html> belongs to it;
 * - a void element (br, img) is closed at once.
 *
 * Everything that an event hands over dies when the handler returns.
 */
#ifndef PD_PAGE_HTML_H
#define PD_PAGE_HTML_H

#include "base/buf.h"
#include "base/span.h"

/* The tags of the HTML standard (and those that it calls obsolete) with their class: the one table that says what a
 * tag is to the blocks (patent CN101645082, module 210).  A tag that is not here is not HTML: it is left
 * out, its content stays. */

enum pd_tag_class {
	PD_CLASS_IGNORE,	/* with everything inside: script, style, noscript, iframe, template, svg, … */
	PD_CLASS_TITLE,		/* title, h1 … h6 */
	PD_CLASS_BLOCK,		/* div, td, table, ul, section, … */
	PD_CLASS_LEVEL,		/* p, br, li, dd, tr, …: inner structure of a block */
	PD_CLASS_OTHER,		/* inline and the rest */
};

/* X(name, class) in alphabetical order: enum pd_tag is PD_TAG_a, … ; the table itself is in tags.def. */
enum pd_tag {
	PD_TAG_NONE,		/* box 0: the page */
#define X(name, klass) PD_TAG_##name,
#include "page/tags.def"
#undef X
	PD_TAG_COUNT
};

/* PD_TAG_NONE when it is no HTML tag; ASCII case is ignored. */
enum pd_tag pd_tag_by_name(struct pd_span name);
/* "" for PD_TAG_NONE. */
const char *pd_tag_name(enum pd_tag t);
enum pd_tag_class pd_tag_class(enum pd_tag t);
/* Has it neither content nor an end tag (br, img, …)? */
bool pd_tag_void(enum pd_tag t);

/* --- events --- */

#define PD_DEPTH_MAX 512
#define PD_ATTRS_MAX 64			/* of one element: more are left out */
#define PD_ATTR_SIZE_MAX 65536		/* bytes of one value: the rest is cut */

/* The attributes that someone reads; PD_ATTR_OTHER only comes with `all_attributes`. */
enum pd_attr_id {
	PD_ATTR_OTHER, PD_ATTR_ALT, PD_ATTR_CLASS, PD_ATTR_CONTENT, PD_ATTR_DATETIME, PD_ATTR_HIDDEN, PD_ATTR_HREF, PD_ATTR_HTTP_EQUIV,
	PD_ATTR_ID, PD_ATTR_ITEMPROP, PD_ATTR_ITEMTYPE, PD_ATTR_LANG, PD_ATTR_NAME, PD_ATTR_PROPERTY, PD_ATTR_REL, PD_ATTR_ROLE,
	PD_ATTR_SRC, PD_ATTR_STYLE, PD_ATTR_XML_LANG,
};

struct pd_attr {
	enum pd_attr_id id;
	struct pd_span name, value;	/* the name in lower case */
};

/* Who listens. */
struct pd_html_sink {
	/* A page begins; what came of one that was not closed is to be forgotten: it comes again, from its beginning. */
	void (*begin)(void *self);
	void (*open)(void *self, enum pd_tag tag, const struct pd_attr *attrs, size_t n);
	void (*close)(void *self, enum pd_tag tag);
	void (*text)(void *self, struct pd_span s);
	/* A frame or iframe with an address, where all links are wanted: no event tells of it otherwise. */
	void (*frame)(void *self, struct pd_span src);
};

/* The program, once, before any page: when libxml2 gets no memory, base/alloc.h says what happens.  It does so for all of
 * the process, which is no library's business: there a parser is asked at the end of each page. */
void pd_html_own_memory(void);

struct pd_saxer;	/* a libxml2 parser that is used again and again: one per thread */

enum pd_saxer_want {
	PD_SAXER_ALL_ATTRIBUTES = 1,	/* not only those that someone reads; and white space as it stands */
	PD_SAXER_LINKS = 2,		/* all that links need: more attributes, and frames */
	PD_SAXER_ENTIRE = 4,		/* libxml2 gets all elements, the balanced ones too: for tests, slower, the same events */
};

struct pd_saxer *pd_saxer_new(const struct pd_html_sink *sink, void *self, enum pd_saxer_want want);
void pd_saxer_free(struct pd_saxer *s);
/* Returns the bytes that stand in long noscripts; `unfold`: they are read. */
size_t pd_saxer_run(struct pd_saxer *s, struct pd_span utf8, bool unfold);

/* UTF-8 HTML as found -> HTML that libxml2 reads as browsers do, in one linear pass over the bytes.
 *
 * libxml2 knows what closes what, and that is what it is used for.  Its tokenizer is older than the HTML standard
 * (`<!-->` swallows the page, `&copy 2020` and `&#128;` are misread, a title may hold tags, `@click="a > b"` ends a tag
 * early), copies every byte of scripts and every attribute, and takes quadratic time on an element of a million
 * attributes.  So the bytes are cut into tags here, by the standard's rules:
 *
 * - comments, declarations, processing instructions, tags that are not HTML: left out;
 * - script, style, noscript, iframe, noembed, noframes, svg, template and the like: left out with what is in them;
 * - but with `unfold` a noscript that holds over PD_NOSCRIPT_MIN bytes becomes a div: some pages have their text there;
 * - title, textarea, xmp: what is in them is text;
 * - attributes: bounded, only those that someone reads (or all, for XHTML);
 * - text and the values of attributes: references decoded;
 * - control characters and noncharacters: left out.  White space with a line break in it: one line break.
 *
 * Of all this libxml2 gets as much as it needs to know: a letter for each text, a number for a tag's attributes, a comment for a frame,
 * and of an element in which it has nothing to decide, because all tags in it are closed in order, the start and the end. */

/* Character references (&amp; &#8364; &#x20AC;) as browsers read them: old names without their semicolon, and the numbers 128
 * to 159 as windows-1252.
 * `s` begins with '&'.  How many bytes of it are a reference (0: it is none), and in *cp the code point that it stands
 * for.  `in_value`: inside an attribute value, where `&copy=1` is no reference. */
size_t pd_reference(struct pd_span s, bool in_value, uint32_t *cp);

#endif
