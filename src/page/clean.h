/* SPDX-License-Identifier: MIT
 *
 * UTF-8 HTML as found -> HTML that libxml2 2.9 reads as browsers do, in one linear pass over the bytes.
 *
 * libxml2 knows what closes what, and that is what it is used for.  Its tokenizer is older than the HTML standard
 * (`<!-->` swallows the page, `&copy 2020` and `&#128;` are misread, a title may hold tags, `@click="a > b"` ends a tag
 * early), copies every byte of scripts and every attribute, and takes quadratic time on an element of a million
 * attributes.  So the bytes are cut into tags here, by the standard's rules, and written again in plain form:
 *
 * - comments, declarations, processing instructions, tags that are not HTML: left out;
 * - script, style, noscript, iframe, noembed, noframes, svg, template and the like: left out with what is in them;
 * - but with `unfold` a noscript that holds over PD_NOSCRIPT_MIN bytes becomes a div: some pages have their text there;
 * - title, textarea, xmp: what is in them is text;
 * - attributes: quoted, bounded, only those that someone reads (or all, for XHTML);
 * - references: decoded, but for what must stay escaped;
 * - control characters and noncharacters: left out.  White space with a line break in it: one line break.
 */
#ifndef PD_PAGE_CLEAN_H
#define PD_PAGE_CLEAN_H

#include "base/buf.h"
#include "page/tags.h"

/* A shorter one is a notice, or a picture for those without scripts. */
#define PD_NOSCRIPT_MIN 512

struct pd_cleaner {
	bool all;			/* keep every attribute, and white space as it stands */
	bool unfold;			/* long noscripts become divs */
	size_t noscript;		/* bytes in long noscripts of the page */
	bool unfolded;			/* in such a div: none nests in it */
	const char *p, *end;		/* what is left to read */
	struct pd_buf out;
	bool unclosed[PD_TAG_COUNT];	/* such an element has no end ahead: do not look again */
	bool unquoted[2];		/* no " (no ') lies ahead */
};

/* The span lies in `out` and dies at the next call. */
struct pd_span pd_clean(struct pd_cleaner *cl, struct pd_span html);
void pd_cleaner_release(struct pd_cleaner *cl);

/* Character references (&amp; &#8364; &#x20AC;) as browsers read them: old names without their semicolon, and the numbers 128
 * to 159 as windows-1252.
 * `s` begins with '&'.  How many bytes of it are a reference (0: it is none), and in *cp the code point that it stands
 * for.  `in_value`: inside an attribute value, where `&copy=1` is no reference. */
size_t pd_reference(struct pd_span s, bool in_value, uint32_t *cp);

#endif
