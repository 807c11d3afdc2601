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
#ifndef PD_PAGE_MEND_H
#define PD_PAGE_MEND_H

#include "base/buf.h"
#include "page/tags.h"

/* A shorter one is a notice, or a picture for those without scripts. */
#define PD_NOSCRIPT_MIN 512

struct pd_mender {
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
struct pd_span pd_mend(struct pd_mender *m, struct pd_span html);
void pd_mender_release(struct pd_mender *m);

/* Text or a value, from m->p to `stop`; mend_text.c.  pd_mend_text ends before a '<' unless `raw`. */
void pd_mend_text(struct pd_mender *m, const char *stop, bool raw);
void pd_mend_value(struct pd_mender *m, struct pd_span value);
/* From m->p, which is behind a tag's name, past its '>'.  Attributes of `tag` that are wanted are written; with
 * PD_TAG_NONE none are.  False when the page ends inside the tag.  mend_attrs.c. */
bool pd_mend_attrs(struct pd_mender *m, enum pd_tag tag, bool *self_closing);

static inline void pd_mend_put(struct pd_mender *m, const char *p, size_t n)
{
	struct pd_buf *b = &m->out;
	char *to = b->cap - b->n > n ? b->p + b->n : pd_buf_reserve(b, n);
	memcpy(to, p, n);
	b->n += n;
}

static inline void pd_mend_put_z(struct pd_mender *m, const char *z)
{
	pd_mend_put(m, z, strlen(z));
}

#endif
