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
#ifndef PD_PAGE_TREE_H
#define PD_PAGE_TREE_H

#include "base/buf.h"
#include "page/tags.h"

#define PD_DEPTH_MAX 512

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
	/* A frame or iframe with an address; only called with PD_SAXER_LINKS.  Frames have only this event. */
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

#endif
