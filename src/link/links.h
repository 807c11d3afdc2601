/* SPDX-License-Identifier: MIT
 *
 * The links of a page.  In: the page's URL, and what it became with all_links (page/blocks.h) and classes (topic/topic.h).  Out: each
 * link with its target in full and in canonical form, its anchor, and its type (patent CN101226533).
 *
 * What is no link: an address that is not of http, https or ftp, or that cannot be read, and one of a place in the page itself.
 *
 * Types, the first that holds.  These rules have a version: PD_LINK_TYPES_VERSION.
 *
 *	back		the home page of the page's own host, or of its registered domain
 *	navigation	the home page of a host one level above or below the page's own, in its registered domain; and what stands in
 *			<nav>, or in an element with the role navigation
 *	advert		its host, or one above it, is in the list of adverts
 *	hidden		the page does not show it, by the attribute hidden or by its style
 *	frame		the address of a frame
 *	image		it holds an image and no text
 *	empty		it holds neither
 *	text		all others
 *
 * "www." at the beginning of a host says nothing.  A home page has the path "/", and no query.
 */
#ifndef PD_LINK_LINKS_H
#define PD_LINK_LINKS_H

#include "base/err.h"
#include "page/blocks.h"
#include "topic/topic.h"

#define PD_LINK_TYPES_VERSION 1

enum pd_link_type {
	PD_LINK_BACK, PD_LINK_NAVIGATION, PD_LINK_ADVERT, PD_LINK_HIDDEN, PD_LINK_FRAME, PD_LINK_IMAGE, PD_LINK_EMPTY, PD_LINK_TEXT,
	PD_LINK_TYPES
};
extern const char *const pd_link_type_names[PD_LINK_TYPES + 1];	/* NULL at the end */

/* Hosts of adverts: one a line, each for all below it too, as "example.org", as a file of hosts has it ("0.0.0.0 example.org"), or
 * as filter lists for browsers have it ("||example.org^", with options or without); their other rules, which ask for more than the
 * host, are passed over, as are remarks. */
struct pd_adverts;

/* `path` NULL: our own list (adverts.def).  PD_ERR_FORMAT: not one host. */
int pd_adverts_open(struct pd_adverts **out, const char *path, struct pd_err *e);
void pd_adverts_free(struct pd_adverts *a);
bool pd_adverts_has(const struct pd_adverts *a, struct pd_span host);
/* 8 hex digits over the hosts, in whatever order. */
const char *pd_adverts_checksum(const struct pd_adverts *a);

struct pd_page_link {
	struct pd_span target, host, anchor;
	enum pd_link_type type;
	enum pd_topic_class class;	/* of the block that it stands in */
	uint32_t block;			/* the patent's block, or PD_BLOCK_NONE */
};

struct pd_page_links {
	struct pd_page_link *v;		/* in the order of the page, repeats too */
	size_t n, cap;
	struct pd_span page;		/* the page's own URL, in canonical form; until the next page */
	struct pd_buf text;		/* what they point into */
};

void pd_page_links_release(struct pd_page_links *l);

/* By what name a link is compared with those of other pages: the page's own host can be left out, since a copy on another host links
 * to itself.  SEEN: as the page sees it, "../a/b", "./b"; PATH: the path alone; FULL: the target. */
enum pd_link_naming { PD_LINK_SEEN, PD_LINK_PATH, PD_LINK_FULL };
/* There until the page's next link, or in `scratch`. */
struct pd_span pd_link_name(const struct pd_page_links *links, const struct pd_page_link *link, enum pd_link_naming naming,
			    struct pd_buf *scratch);

struct pd_link_finder;		/* scratch for one thread */

struct pd_link_finder *pd_link_finder_new(const struct pd_adverts *a);
void pd_link_finder_free(struct pd_link_finder *f);
/* Replaces `out`.  A page without a URL has no links but those that stand in full. */
void pd_links_find(struct pd_link_finder *f, struct pd_span url, const struct pd_blocks *blocks, const struct pd_topic *topic,
		   struct pd_page_links *out);

#endif
