/* SPDX-License-Identifier: MIT
 *
 * The links of a page.  The page's URL, and its data parsed with all_links (page/blocks.h) and classes (topic/topic.h)
 * -> each link with its target in full and in canonical form, its anchor, and its type (patent CN101226533).
 *
 * An address is not a link if it is not http, https or ftp, if it cannot be parsed, or if it is a position in the page
 * itself.
 *
 * The first matching type is used.  These rules have a version: PD_LINK_TYPES_VERSION.
 *
 *	back		the home page of the page's own host, or of its registered domain
 *	navigation	the home page of a host one level above or below the page's own, in its registered domain; and links in
 *			<nav>, or in an element with the role navigation
 *	advert		its host, or one above it, is in the list of advertisement hosts
 *	hidden		the page does not show it, its text, or an element around it, by the attribute hidden or by a style
 *	frame		the address of a frame
 *	image		it contains an image and no text
 *	empty		it contains neither
 *	text		all others
 *
 * "www." at the beginning of a host is ignored.  A home page has no query, and the path "/" or "/index" or "/default"
 * with an ending of pages (.html, .php, …).
 */
#ifndef PD_LINK_LINKS_H
#define PD_LINK_LINKS_H

#include "base/err.h"
#include "page/blocks.h"
#include "topic/topic.h"

#define PD_LINK_TYPES_VERSION 2

enum pd_link_type {
	PD_LINK_BACK,
	PD_LINK_NAVIGATION,
	PD_LINK_ADVERT,
	PD_LINK_HIDDEN,
	PD_LINK_FRAME,
	PD_LINK_IMAGE,
	PD_LINK_EMPTY,
	PD_LINK_TEXT,
	PD_LINK_TYPES
};
extern const char *const pd_link_type_names[PD_LINK_TYPES + 1]; /* terminated by NULL */

/* Hosts of advertisements, one per line; each includes all hosts below it.  Accepted forms: "example.org", lines of a
 * hosts file ("0.0.0.0 example.org"), and filter lists of browsers ("||example.org^", with or without options).  Filter
 * rules that depend on more than the host are ignored, and so are comments. */
struct pd_adverts;

/* `path` NULL: the built-in list (adverts.def).  PD_ERR_FORMAT: the file has no host. */
int pd_adverts_open(struct pd_adverts **out, const char *path, struct pd_err *e);
void pd_adverts_free(struct pd_adverts *a);
/* Return 8 hex digits over the hosts, independent of their order. */
const char *pd_adverts_checksum(const struct pd_adverts *a);

struct pd_page_link {
	struct pd_span target, host, anchor;
	enum pd_link_type type;
	enum pd_topic_class class; /* class of the block that contains it */
	uint32_t block;		   /* the patent's block, or PD_BLOCK_NONE */
};

struct pd_page_links {
	struct pd_page_link *v; /* in page order, with repeats */
	size_t n, cap;
	struct pd_span page; /* the page's own URL in canonical form; valid until the next page */
	struct pd_buf text;  /* memory of the texts */
};

void pd_page_links_release(struct pd_page_links *l);

/* Name of a link, for comparing links of different pages.  The page's own host can be omitted, since a copy on
 * another host links to itself.  SEEN: relative to the page, "../a/b", "./b"; PATH: only the path; FULL: the target. */
enum pd_link_naming { PD_LINK_SEEN, PD_LINK_PATH, PD_LINK_FULL };
/* Return the name; valid until the page's next link, or in `scratch`. */
struct pd_span pd_link_name(const struct pd_page_links *links, const struct pd_page_link *link, enum pd_link_naming naming,
			    struct pd_buf *scratch);

struct pd_link_finder; /* scratch for one thread */

struct pd_link_finder *pd_link_finder_new(const struct pd_adverts *a);
void pd_link_finder_free(struct pd_link_finder *f);
/* Find the links; the content of `out` is replaced.  A page without a URL only has links with absolute addresses. */
void pd_links_find(struct pd_link_finder *f, struct pd_span url, const struct pd_blocks *blocks, const struct pd_topic *topic,
		   struct pd_page_links *out);

#endif
