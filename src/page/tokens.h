/* SPDX-License-Identifier: MIT
 *
 * UTF-8 HTML as found -> tokens, in one linear pass over the bytes.  From the tokens the tree (tree.h) makes HTML that
 * libxml2 reads as browsers do.
 *
 * libxml2 is used because it knows which tag closes which element.  Its tokenizer is older than the HTML standard
 * (`<!-->` swallows the page, `&copy 2020` and `&#128;` are misread, a title may hold tags, `@click="a > b"` ends a tag
 * early), copies every byte of scripts and every attribute, and takes quadratic time on an element with a million
 * attributes.  Therefore the tokenizer splits the bytes into tags itself, by the rules of the standard:
 *
 * - comments, declarations, processing instructions and tags that are not HTML are removed;
 * - script, style, noscript, iframe, noembed, noframes, svg, template and the like are removed with their content;
 * - with `unfold`, a noscript with more than NOSCRIPT_MIN bytes becomes a div: some pages have their text there;
 * - the content of title, textarea and xmp is text;
 * - attributes are bounded, and only attributes that later stages use are kept (for XHTML, all of them);
 * - references are decoded in text and in attribute values;
 * - control characters and noncharacters are removed; white space with a line break becomes one line break.
 *
 * libxml2 receives only the information that it needs: a letter for each text, a number for the attributes of a tag,
 * and a comment for a frame.  If all tags inside an element are closed in order, libxml2 has nothing to decide there
 * and receives only the start and the end of the element.
 */
#ifndef PD_PAGE_TOKENS_H
#define PD_PAGE_TOKENS_H

#include "base/buf.h"
#include "page/tags.h"

/* Position in `held`.  A page has less than 2 GiB. */
struct pd_held_text {
	uint32_t at, n;
};

struct pd_held_attr {
	enum pd_attr_id id;
	struct pd_held_text name, value;
};

enum pd_token_kind { PD_TOKEN_START, PD_TOKEN_VOID, PD_TOKEN_END, PD_TOKEN_TEXT, PD_TOKEN_SPACE, PD_TOKEN_FRAME };

/* A start tag, a void element, an end tag, text, white space, or the position of a frame. */
struct pd_token {
	uint8_t kind;
	uint8_t tag; /* PD_TOKEN_TEXT: the letter that represents it */
	uint8_t n_attrs;
	union {
		struct pd_held_text text;
		struct {
			uint32_t attrs; /* PD_TOKEN_START: its first attribute */
			uint32_t end;	/* PD_TOKEN_START of a balanced element (see below): its end token;
						 * otherwise 0 */
		};
		uint32_t height; /* PD_TOKEN_END of a balanced element: depth of the elements in it */
		uint32_t frame;	 /* number of the frame */
	};
};

/* Position of a frame's address in `frames`. */
struct pd_frame_at {
	size_t at, n;
};

struct pd_tokenizer {
	bool all;		 /* keep every attribute, and white space unchanged */
	bool unfold;		 /* long noscripts become divs */
	size_t noscript;	 /* bytes in long noscripts of the page */
	bool unfolded;		 /* inside such a div: do not open another one */
	const char *p, *end;	 /* bytes that remain to be read */
	struct pd_token *tokens; /* tokens of the page */
	struct pd_buf held;	 /* texts and values of the tokens */
	struct pd_held_attr *attrs;
	size_t n_tokens, n_attrs, cap_tokens, cap_attrs;
	/* its own */
	size_t tag_attrs;	     /* index of the first attribute of the current tag */
	bool unclosed[PD_TAG_COUNT]; /* this element has no end tag ahead: do not search again */
	bool unquoted[2];	     /* no " (no ') is ahead */
	bool links;		     /* keep attributes that describe links */
	struct pd_span src;	     /* address of the frame that is being read, as written */
	struct pd_buf frames;	     /* addresses of frames, NUL-terminated */
	struct pd_frame_at *frame_at;
	size_t n_frames, cap_frames;
};

static inline struct pd_span pd_held_span(const struct pd_tokenizer *cl, struct pd_held_text t)
{
	return pd_span(cl->held.p + t.at, t.n);
}

/* Split a page of less than 2 GiB.  The tokens are valid until the next page. */
void pd_tokenize(struct pd_tokenizer *cl, struct pd_span html);
void pd_tokenizer_release(struct pd_tokenizer *cl);

/* Decode a character reference (&amp; &#8364; &#x20AC;) as browsers do: old names need no semicolon, and the numbers
 * 128 to 159 mean windows-1252.  `s` begins with '&'.  Return the length of the reference, or 0 if there is none, and
 * set *cp to its code point.  `in_value`: inside an attribute value, where `&copy=1` is not a reference. */
size_t pd_reference(struct pd_span s, bool in_value, uint32_t *cp);

#endif
