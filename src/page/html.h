/* SPDX-License-Identifier: MIT
 *
 * UTF-8 HTML of any quality -> clean events (patent CN101645082, module 120).  The cleaned source is parsed by
 * libxml2's SAX parser, which knows which start tag closes which element.  The result is a sequence of open, close and
 * text events.  For every page:
 *
 * - events are properly nested; the first is open(html), the last is close(html);
 * - only tags of the table (tags.def) send events; ignored elements (PD_CLASS_IGNORE) and their content send none;
 * - at most PD_DEPTH_MAX elements are open: deeper elements send no events, but their text does;
 * - <body>, once open, stays open to the end: text after </body> or </html> belongs to it;
 * - a void element (br, img) is closed at once.
 *
 * All pointers in an event are valid until the handler returns.
 */
#ifndef PD_PAGE_HTML_H
#define PD_PAGE_HTML_H

#include "base/buf.h"
#include "base/span.h"

/* Table of the tags of the HTML standard, obsolete ones included, with their class, which decides how blocks are built
 * (patent CN101645082, module 210).  A tag that is not in the table is not HTML: the tag is ignored, its content is
 * kept. */

enum pd_tag_class {
	PD_CLASS_IGNORE, /* ignored with all content: script, style, noscript, iframe, template, svg, … */
	PD_CLASS_TITLE,	 /* title, h1 … h6 */
	PD_CLASS_BLOCK,	 /* div, td, table, ul, section, … */
	PD_CLASS_LEVEL,	 /* p, br, li, dd, tr, …: inner structure of a block */
	PD_CLASS_OTHER,	 /* inline and the rest */
};

/* X(name, class) in alphabetical order: enum pd_tag is PD_TAG_a, … ; the table itself is in tags.def. */
enum pd_tag {
	PD_TAG_NONE, /* box 0: the page */
#define X(name, klass) PD_TAG_##name,
#include "page/tags.def"
#undef X
	PD_TAG_COUNT
};

/* Return PD_TAG_NONE if it is not an HTML tag.  ASCII case is ignored. */
enum pd_tag pd_tag_by_name(struct pd_span name);
/* "" for PD_TAG_NONE. */
const char *pd_tag_name(enum pd_tag t);
enum pd_tag_class pd_tag_class(enum pd_tag t);
/* Return whether the element has neither content nor an end tag (br, img, …). */
bool pd_tag_void(enum pd_tag t);

/* --- events --- */

#define PD_DEPTH_MAX 512
#define PD_ATTRS_MAX 64	       /* per element; more are ignored */
#define PD_ATTR_SIZE_MAX 65536 /* bytes of one value; the rest is cut off */

/* Attributes that later stages use.  PD_ATTR_OTHER only occurs with PD_SAXER_ALL_ATTRIBUTES. */
enum pd_attr_id {
	PD_ATTR_OTHER,
	PD_ATTR_ALT,
	PD_ATTR_CLASS,
	PD_ATTR_CONTENT,
	PD_ATTR_DATETIME,
	PD_ATTR_HIDDEN,
	PD_ATTR_HREF,
	PD_ATTR_HTTP_EQUIV,
	PD_ATTR_ID,
	PD_ATTR_ITEMPROP,
	PD_ATTR_ITEMTYPE,
	PD_ATTR_LANG,
	PD_ATTR_NAME,
	PD_ATTR_PROPERTY,
	PD_ATTR_REL,
	PD_ATTR_ROLE,
	PD_ATTR_SRC,
	PD_ATTR_STYLE,
	PD_ATTR_XML_LANG,
};

struct pd_attr {
	enum pd_attr_id id;
	struct pd_span name, value; /* the name in lower case */
};

/* Receiver of the events. */
struct pd_html_sink {
	/* A page begins.  If the previous page was not closed, the receiver must discard its events: they are sent
	 * again from the start. */
	void (*begin)(void *self);
	void (*open)(void *self, enum pd_tag tag, const struct pd_attr *attrs, size_t n);
	void (*close)(void *self, enum pd_tag tag);
	void (*text)(void *self, struct pd_span s);
	/* A frame or iframe with an address; only called with PD_SAXER_LINKS.  No other event reports frames. */
	void (*frame)(void *self, struct pd_span src);
};

/* Make libxml2 use the memory functions of base/alloc.h.  Called once by the program, before the first page.  The
 * library must not call it, because it changes the whole process; it checks the parser for lack of memory after each
 * page instead. */
void pd_html_own_memory(void);

struct pd_saxer; /* a reusable libxml2 parser: one per thread */

enum pd_saxer_want {
	PD_SAXER_ALL_ATTRIBUTES = 1, /* all attributes, and white space unchanged */
	PD_SAXER_LINKS = 2,	     /* all attributes that describe links, and frames */
	PD_SAXER_ENTIRE = 4,	     /* libxml2 gets balanced elements too: for tests; slower, with the same
					 * events */
};

struct pd_saxer *pd_saxer_new(const struct pd_html_sink *sink, void *self, enum pd_saxer_want want);
void pd_saxer_free(struct pd_saxer *s);
/* Parse a page and send its events.  Return the number of bytes in long noscript elements.  `unfold`: read these
 * elements. */
size_t pd_saxer_run(struct pd_saxer *s, struct pd_span utf8, bool unfold);

/* UTF-8 HTML as found -> HTML that libxml2 reads as browsers do, in one linear pass over the bytes.
 *
 * libxml2 is used because it knows which tag closes which element.  Its tokenizer is older than the HTML standard
 * (`<!-->` swallows the page, `&copy 2020` and `&#128;` are misread, a title may hold tags, `@click="a > b"` ends a tag
 * early), copies every byte of scripts and every attribute, and takes quadratic time on an element with a million
 * attributes.  Therefore this file splits the bytes into tags itself, by the rules of the standard:
 *
 * - comments, declarations, processing instructions and tags that are not HTML are removed;
 * - script, style, noscript, iframe, noembed, noframes, svg, template and the like are removed with their content;
 * - with `unfold`, a noscript with more than NOSCRIPT_MIN bytes becomes a div: some pages have their text there;
 * - the content of title, textarea and xmp is text;
 * - attributes are bounded, and only those that later stages use are kept (all for XHTML);
 * - references are decoded in text and in attribute values;
 * - control characters and noncharacters are removed; white space with a line break becomes one line break.
 *
 * libxml2 receives only the information that it needs: a letter for each text, a number for the attributes of a tag,
 * and a comment for a frame.  If all tags inside an element are closed in order, libxml2 has nothing to decide there
 * and receives only the start and the end of the element. */

/* Decode a character reference (&amp; &#8364; &#x20AC;) as browsers do: old names need no semicolon, and the numbers
 * 128 to 159 mean windows-1252.  `s` begins with '&'.  Return the length of the reference, or 0 if there is none, and
 * set *cp to its code point.  `in_value`: inside an attribute value, where `&copy=1` is not a reference. */
size_t pd_reference(struct pd_span s, bool in_value, uint32_t *cp);

#endif
