/* SPDX-License-Identifier: MIT
 *
 * See the header.  The only file that includes libxml2.
 *
 * libxml2 keeps the stack of open elements.  This file keeps only the part of it that sends events, each element with
 * its level in that stack.  A start event at level L means that every element at level L or deeper has ended; an end
 * event at L closes it.  Thus events are properly nested even if libxml2 does not report an end, as for missing end
 * tags at the end of the page and after cut_stack.
 */
#include "page/html.h"

#define XML_DEPRECATED_MEMBER /* the stack of open elements is deprecated without a replacement */
#include <inttypes.h>
#include <libxml/HTMLparser.h>
#include <libxml/globals.h>
#include <libxml/threads.h>
#include <stdlib.h>

#include "base/threads.h"
#include "base/utf8.h"

/* ==== tags ==== */

/* The lookup runs for every tag of every page.  It compares a name as sixteen bytes at once, and only with names that
 * have the same first letter. */

#define TAG_SIZE 16 /* the longest name, blockquote, has ten letters */

struct tag {
	char name[TAG_SIZE];
	uint8_t klass;
};

static const struct tag tag_table[PD_TAG_COUNT + 1] = {
	[PD_TAG_NONE] = { "", PD_CLASS_OTHER },
#define X(tag, class_) [PD_TAG_##tag] = { #tag, PD_CLASS_##class_ },
#include "page/tags.def"
#undef X
};

/* Index of the first tag for each letter, or of the tag that would follow.  The table is alphabetical; a unit test
 * looks up all tags. */
static const uint8_t tag_first[27] = {
	PD_TAG_a,      PD_TAG_b,   PD_TAG_canvas, PD_TAG_data,	PD_TAG_em,    PD_TAG_fencedframe, PD_TAG_h1,
	PD_TAG_h1,     PD_TAG_i,   PD_TAG_kbd,	  PD_TAG_kbd,	PD_TAG_label, PD_TAG_main,	  PD_TAG_nav,
	PD_TAG_object, PD_TAG_p,   PD_TAG_q,	  PD_TAG_rb,	PD_TAG_s,     PD_TAG_table,	  PD_TAG_u,
	PD_TAG_var,    PD_TAG_wbr, PD_TAG_xmp,	  PD_TAG_COUNT, PD_TAG_COUNT, PD_TAG_COUNT,
};

enum pd_tag pd_tag_by_name(struct pd_span name)
{
	char key[TAG_SIZE] = { 0 };
	if (name.n == 0 || name.n >= TAG_SIZE)
		return PD_TAG_NONE;
	for (size_t i = 0; i < name.n; i++)
		key[i] = pd_ascii_lower(name.p[i]);
	if (key[0] < 'a' || key[0] > 'z')
		return PD_TAG_NONE;
	for (unsigned t = tag_first[key[0] - 'a']; t < tag_first[key[0] - 'a' + 1]; t++)
		if (memcmp(tag_table[t].name, key, TAG_SIZE) == 0)
			return (enum pd_tag)t;
	return PD_TAG_NONE;
}

const char *pd_tag_name(enum pd_tag t)
{
	return tag_table[t].name;
}

enum pd_tag_class pd_tag_class(enum pd_tag t)
{
	return (enum pd_tag_class)tag_table[t].klass;
}

bool pd_tag_void(enum pd_tag t)
{
	switch (t) {
	case PD_TAG_area:
	case PD_TAG_base:
	case PD_TAG_basefont:
	case PD_TAG_bgsound:
	case PD_TAG_br:
	case PD_TAG_col:
	case PD_TAG_embed:
	case PD_TAG_frame:
	case PD_TAG_hr:
	case PD_TAG_img:
	case PD_TAG_input:
	case PD_TAG_isindex:
	case PD_TAG_keygen:
	case PD_TAG_link:
	case PD_TAG_meta:
	case PD_TAG_nextid:
	case PD_TAG_param:
	case PD_TAG_source:
	case PD_TAG_spacer:
	case PD_TAG_track:
	case PD_TAG_wbr: return true;
	default: return false;
	}
}

/* ==== cleaning: bytes -> tokens ==== */

/* Order of this section: text and values, attributes of a tag, tags, the page. */

/* A shorter noscript is a notice, or a picture for browsers without scripts. */
#define NOSCRIPT_MIN 512
/* Frames of a page beyond this number are not reported. */
#define FRAMES_MAX 4096

struct cleaner {
	bool all;	      /* keep every attribute, and white space unchanged */
	bool unfold;	      /* long noscripts become divs */
	size_t noscript;      /* bytes in long noscripts of the page */
	bool unfolded;	      /* inside such a div: none is opened in it */
	const char *p, *end;  /* bytes that remain to be read */
	struct token *tokens; /* tokens of the page */
	struct pd_buf held;   /* texts and values of the tokens */
	struct held_attr *attrs;
	size_t n_tokens, n_attrs, cap_tokens, cap_attrs;
	size_t tag_attrs;	     /* index of the first attribute of the current tag */
	bool unclosed[PD_TAG_COUNT]; /* this element has no end tag ahead: do not search again */
	bool unquoted[2];	     /* no " (no ') is ahead */
	bool links;		     /* keep attributes that describe links */
	struct pd_span src;	     /* address of the frame whose tag is being read, as written */
	struct pd_buf frames;	     /* addresses of frames, each with a NUL after it */
	struct frame_at *frame_at;
	size_t n_frames, cap_frames;
};

/* Position in `held`.  A page has less than 2 GiB. */
struct held_text {
	uint32_t at, n;
};

struct held_attr {
	enum pd_attr_id id;
	struct held_text name, value;
};

enum token_kind { TOKEN_START, TOKEN_VOID, TOKEN_END, TOKEN_TEXT, TOKEN_SPACE, TOKEN_FRAME };

/* A start tag, a void element, an end tag, text, white space, or the position of a frame. */
struct token {
	uint8_t kind;
	uint8_t tag; /* TOKEN_TEXT: the letter that represents it */
	uint8_t n_attrs;
	union {
		struct held_text text;
		struct {
			uint32_t attrs; /* TOKEN_START: its first attribute */
			uint32_t end;	/* TOKEN_START of a balanced element (see below): its end token;
						 * otherwise 0 */
		};
		uint32_t height; /* TOKEN_END of a balanced element: depth of the elements in it */
		uint32_t frame;	 /* number of the frame */
	};
};

/* Position of a frame's address in `frames`. */
struct frame_at {
	size_t at, n;
};

/* References: see the header.  The names are in entity.def.  The rules are those of the HTML standard's tokenizer
 * (13.2.5.72 and the following states). */

#define NAME_MAX_LEN 24	 /* longer than any name */
#define LEGACY_MAX_LEN 6 /* Aacute … */
#define REPLACEMENT 0xFFFD

struct entity {
	const char *name;
	uint16_t cp;
	bool legacy;
};

static const struct entity entities[] = {
#define E(name, cp, legacy) { name, cp, legacy },
#include "tables/entity.def"
#undef E
};

/* Meaning of 128 to 159 in windows-1252; the five unassigned values are unchanged. */
static const uint16_t cp1252[32] = {
	0x20AC, 0x81,	0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
	0x2039, 0x0152, 0x8D,	0x017D, 0x8F,	0x90,	0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
	0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,	0x017E, 0x0178,
};

static bool is_alnum(char c)
{
	return pd_ascii_digit(c) || pd_ascii_letter(c);
}

static int entity_order(const void *key, const void *item)
{
	const struct entity *e = item;
	return pd_span_cmp(*(const struct pd_span *)key, pd_span_z(e->name));
}

static const struct entity *find_entity(const char *p, size_t n)
{
	struct pd_span key = pd_span(p, n);
	return bsearch(&key, entities, sizeof(entities) / sizeof(entities[0]), sizeof(entities[0]), entity_order);
}

static size_t named_reference(struct pd_span s, bool in_value, uint32_t *cp)
{
	size_t n = 0;
	while (n < NAME_MAX_LEN && 1 + n < s.n && is_alnum(s.p[1 + n]))
		n++;
	char next = 1 + n < s.n ? s.p[1 + n] : 0;
	const struct entity *e = next == ';' ? find_entity(s.p + 1, n) : NULL;
	if (e) {
		*cp = e->cp;
		return n + 2;
	}
	for (size_t k = n < LEGACY_MAX_LEN ? n : LEGACY_MAX_LEN; k >= 2; k--) {
		if (in_value && (k < n || next == '='))
			continue;
		e = find_entity(s.p + 1, k);
		if (e && e->legacy) {
			*cp = e->cp;
			return k + 1;
		}
	}
	return 0;
}

static int digit_value(char c, unsigned base)
{
	int d = pd_hex_digit(c);
	return d < (int)base ? d : -1;
}

static uint32_t replaced(uint64_t value)
{
	if (value >= 128 && value < 160)
		return cp1252[value - 128];
	if (value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) || (value & 0xFFFE) == 0xFFFE)
		return REPLACEMENT;
	return (uint32_t)value;
}

static size_t numeric_reference(struct pd_span s, uint32_t *cp)
{
	unsigned base = s.n > 2 && (s.p[2] | 0x20) == 'x' ? 16 : 10;
	size_t start = base == 16 ? 3 : 2, i = start;
	uint64_t value = 0;
	for (; i < s.n && digit_value(s.p[i], base) >= 0; i++)
		if (value <= 0x10FFFF)
			value = value * base + (unsigned)digit_value(s.p[i], base);
	if (i == start)
		return 0;
	*cp = replaced(value);
	return i < s.n && s.p[i] == ';' ? i + 1 : i;
}

size_t pd_reference(struct pd_span s, bool in_value, uint32_t *cp)
{
	if (s.n < 3)
		return 0;
	return s.p[1] == '#' ? numeric_reference(s, cp) : named_reference(s, in_value, cp);
}

/* Attribute names -> the few that later stages use, by tag.  Pages are full of attributes; unused ones are removed
 * before the parser sees them. */

#define BIT(id) (1u << (id))

static const struct {
	char name[12];
	enum pd_attr_id id;
} known_attributes[] = {
	{ "class", PD_ATTR_CLASS },	  { "id", PD_ATTR_ID },
	{ "href", PD_ATTR_HREF },	  { "rel", PD_ATTR_REL },
	{ "role", PD_ATTR_ROLE },	  { "itemprop", PD_ATTR_ITEMPROP },
	{ "itemtype", PD_ATTR_ITEMTYPE }, { "style", PD_ATTR_STYLE },
	{ "hidden", PD_ATTR_HIDDEN },	  { "content", PD_ATTR_CONTENT },
	{ "name", PD_ATTR_NAME },	  { "property", PD_ATTR_PROPERTY },
	{ "datetime", PD_ATTR_DATETIME }, { "http-equiv", PD_ATTR_HTTP_EQUIV },
	{ "lang", PD_ATTR_LANG },	  { "xml:lang", PD_ATTR_XML_LANG },
	{ "alt", PD_ATTR_ALT },		  { "src", PD_ATTR_SRC },
};

static enum pd_attr_id attr_by_name(struct pd_span name)
{
	if (name.n == 0)
		return PD_ATTR_OTHER;
	char c = pd_ascii_lower(name.p[0]);
	for (size_t i = 0; i < sizeof(known_attributes) / sizeof(known_attributes[0]); i++) {
		const char *known = known_attributes[i].name;
		if (known[0] != c || name.n >= sizeof known_attributes[i].name || known[name.n])
			continue;
		size_t same = 1;
		while (same < name.n && pd_ascii_lower(name.p[same]) == known[same])
			same++;
		if (same == name.n)
			return known_attributes[i].id;
	}
	return PD_ATTR_OTHER;
}

static unsigned wanted_bits(enum pd_tag tag)
{
	switch (tag) {
	case PD_TAG_a: return BIT(PD_ATTR_HREF) | BIT(PD_ATTR_REL);
	case PD_TAG_html: return BIT(PD_ATTR_LANG) | BIT(PD_ATTR_XML_LANG);
	case PD_TAG_link: return BIT(PD_ATTR_HREF) | BIT(PD_ATTR_REL);
	case PD_TAG_base: return BIT(PD_ATTR_HREF);
	case PD_TAG_meta:
		return BIT(PD_ATTR_NAME) | BIT(PD_ATTR_PROPERTY) | BIT(PD_ATTR_ITEMPROP) | BIT(PD_ATTR_HTTP_EQUIV) |
		       BIT(PD_ATTR_CONTENT);
	case PD_TAG_time: return BIT(PD_ATTR_DATETIME) | BIT(PD_ATTR_ITEMPROP);
	case PD_TAG_br: return 0;
	default: break;
	}
	enum pd_tag_class c = pd_tag_class(tag);
	if (c != PD_CLASS_TITLE && c != PD_CLASS_BLOCK && c != PD_CLASS_LEVEL)
		return 0;
	return BIT(PD_ATTR_CLASS) | BIT(PD_ATTR_ID) | BIT(PD_ATTR_ROLE) | BIT(PD_ATTR_ITEMPROP) | BIT(PD_ATTR_ITEMTYPE) |
	       BIT(PD_ATTR_HIDDEN) | BIT(PD_ATTR_STYLE);
}

/* Attributes that are used only if all links are reported. */
static unsigned wanted_for_links(enum pd_tag tag)
{
	switch (tag) {
	case PD_TAG_a: return BIT(PD_ATTR_HIDDEN) | BIT(PD_ATTR_STYLE);
	case PD_TAG_area: return BIT(PD_ATTR_HREF) | BIT(PD_ATTR_REL) | BIT(PD_ATTR_ALT);
	case PD_TAG_img: return BIT(PD_ATTR_ALT);
	case PD_TAG_frame:
	case PD_TAG_iframe: return BIT(PD_ATTR_SRC);
	default: return 0;
	}
}

/* Return the id of the attribute, or PD_ATTR_OTHER if it is not used on this tag.  `links`: all links of the page are
 * reported. */
static enum pd_attr_id wanted_attr(enum pd_tag tag, struct pd_span name, bool links)
{
	/* Many tags have no attribute that is used; then the name need not be looked up. */
	unsigned any = wanted_bits(tag) | (links ? wanted_for_links(tag) : 0);
	enum pd_attr_id id = any ? attr_by_name(name) : PD_ATTR_OTHER;
	return any & BIT(id) ? id : PD_ATTR_OTHER;
}

/* Tags. */

static struct token *put_token(struct cleaner *cl, enum token_kind kind, enum pd_tag t)
{
	cl->tokens = pd_grow(cl->tokens, cl->n_tokens, &cl->cap_tokens, sizeof *cl->tokens);
	struct token *new = &cl->tokens[cl->n_tokens++];
	*new = (struct token){ .kind = (uint8_t)kind, .tag = (uint8_t)t };
	return new;
}

static void hold_bytes(struct cleaner *cl, const char *p, size_t n)
{
	struct pd_buf *b = &cl->held;
	char *to = b->cap - b->n > n ? b->p + b->n : pd_buf_reserve(b, n);
	memcpy(to, p, n);
	b->n += n;
}

/*
 * Text and attribute values.  References are decoded, characters that XML forbids are removed, and white space around
 * line breaks is collapsed, because the indentation of a page's source is a large part of its bytes.  The parser only
 * needs to know whether a text is more than white space, and it does not use values, but it reads every byte of them
 * several times.  Therefore it gets a letter for each text and a number for the attributes of a tag.  The real text and
 * values are held until the parser returns the letter or number.
 */

/* Bytes that must be checked: control characters, markup, and EF, which begins U+FFFE and U+FFFF. */
static const bool special[256] = {
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,	     1,		1,	    1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ['&'] = 1, ['<'] = 1, [0xEF] = 1,
};

static void hold_code_point(struct cleaner *cl, uint32_t cp)
{
	if (cp >= ' ')
		pd_buf_add_utf8(&cl->held, cp);
	else if (pd_ascii_space((char)cp))
		hold_bytes(cl, " ", 1);
}

static void reference(struct cleaner *cl, const char *stop, bool in_value)
{
	uint32_t cp;
	size_t n = pd_reference(pd_span(cl->p, (size_t)(stop - cl->p)), in_value, &cp);
	hold_code_point(cl, n ? cp : '&');
	cl->p += n ? n : 1;
}

static bool noncharacter(const char *p, const char *stop)
{
	return stop - p >= 3 && (uint8_t)p[1] == 0xBF && (uint8_t)p[2] >= 0xBE;
}

static bool line_break(char c)
{
	return c == '\n' || c == '\r';
}

static void white_space(struct cleaner *cl, const char *stop)
{
	bool line = line_break(*cl->p);
	if (cl->all) {
		hold_bytes(cl, line ? "\n" : *cl->p == '\t' ? "\t" : " ", 1);
		cl->p += stop - cl->p >= 2 && cl->p[0] == '\r' && cl->p[1] == '\n' ? 2 : 1;
		return;
	}
	while (cl->p < stop && pd_ascii_space(*cl->p)) {
		line |= line_break(*cl->p++);
		while (stop - cl->p >= 8 && pd_eight_load(cl->p) == PD_EACH(' ')) /* indentation */
			cl->p += 8;
	}
	hold_bytes(cl, line ? "\n" : " ", 1);
}

static void special_byte(struct cleaner *cl, const char *stop, bool in_value)
{
	char c = *cl->p;
	if (c == '&') {
		reference(cl, stop, in_value);
	} else if (pd_ascii_space(c)) {
		white_space(cl, stop);
	} else if (c == '<') {
		hold_bytes(cl, cl->p++, 1);
	} else if ((uint8_t)c != 0xEF) {
		cl->p++;
	} else if (noncharacter(cl->p, stop)) {
		cl->p += 3;
	} else {
		hold_bytes(cl, cl->p++, 1);
	}
}

/* Make a token of the text in `held` from `at` on: text, or only white space.  White space after a text is part of that
 * text. */
static void put_text(struct cleaner *cl, size_t at)
{
	const char *p = cl->held.p + at;
	size_t n = cl->held.n - at, white = 0;
	struct token *last = cl->n_tokens ? &cl->tokens[cl->n_tokens - 1] : NULL;
	if (!n)
		return;
	if (last && last->kind == TOKEN_TEXT && last->text.at + last->text.n == at) {
		last->text.n += (uint32_t)n;
		return;
	}
	while (white < n && pd_ascii_space(p[white]))
		white++;
	put_token(cl, white == n ? TOKEN_SPACE : TOKEN_TEXT, PD_TAG_NONE)->text = (struct held_text){ (uint32_t)at, (uint32_t)n };
}

static void copy_text(struct cleaner *cl, const char *stop, bool raw)
{
	size_t at = cl->held.n;
	while (cl->p < stop) {
		const char *run = cl->p;
		while (cl->p < stop && !special[(uint8_t)*cl->p])
			cl->p++;
		hold_bytes(cl, run, (size_t)(cl->p - run));
		if (cl->p == stop || (*cl->p == '<' && !raw))
			break;
		special_byte(cl, stop, false);
	}
	put_text(cl, at);
}

static struct held_text hold_value(struct cleaner *cl, struct pd_span value)
{
	const char *after = cl->p, *stop = value.p + value.n;
	size_t at = cl->held.n;
	cl->p = value.p;
	while (cl->p < stop) {
		const char *run = cl->p;
		while (cl->p < stop && !special[(uint8_t)*cl->p])
			cl->p++;
		hold_bytes(cl, run, (size_t)(cl->p - run));
		if (cl->p < stop)
			special_byte(cl, stop, true);
	}
	cl->p = after;
	return (struct held_text){ (uint32_t)at, (uint32_t)(cl->held.n - at) };
}

static struct held_text hold_name(struct cleaner *cl, struct pd_span name)
{
	size_t at = cl->held.n;
	char *to = pd_buf_reserve(&cl->held, name.n);
	for (size_t i = 0; i < name.n; i++)
		to[i] = pd_ascii_lower(name.p[i]);
	cl->held.n += name.n;
	return (struct held_text){ (uint32_t)at, (uint32_t)name.n };
}

/*
 * The attributes of one tag, by the states of the HTML standard (13.2.5.32 to 13.2.5.39), with one exception.  If a
 * quote is never closed, a browser loses the rest of the page; this code loses only the quote.
 */

static bool name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || pd_ascii_digit(c) || c == '-' || c == '_' || c == ':' ||
	       c == '.';
}

/* Return whether libxml2 reads it as a name: it accepts at most 100 of these bytes. */
static bool plain_name(struct pd_span name)
{
	if (name.n == 0 || name.n > 100 || !pd_ascii_letter(name.p[0]))
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (!name_byte(name.p[i]))
			return false;
	return true;
}

static struct pd_span attr_name(struct cleaner *cl)
{
	const char *at = cl->p++; /* the first byte belongs to the name, even '=' */
	while (cl->p < cl->end && !pd_ascii_space(*cl->p) && *cl->p != '/' && *cl->p != '>' && *cl->p != '=')
		cl->p++;
	return pd_span(at, (size_t)(cl->p - at));
}

static void skip_space(struct cleaner *cl)
{
	while (cl->p < cl->end && pd_ascii_space(*cl->p))
		cl->p++;
}

static bool quoted(struct cleaner *cl, struct pd_span *value)
{
	char q = *cl->p;
	bool *none = &cl->unquoted[q == '"'];
	const char *close = *none ? NULL : memchr(cl->p + 1, q, (size_t)(cl->end - cl->p - 1));
	if (!close) {
		*none = true;
		cl->p++;
		return false;
	}
	*value = pd_span(cl->p + 1, (size_t)(close - cl->p - 1));
	cl->p = close + 1;
	return true;
}

static struct pd_span attr_value(struct cleaner *cl)
{
	struct pd_span value = { cl->p, 0 };
	skip_space(cl);
	if (cl->p == cl->end || *cl->p != '=')
		return value;
	cl->p++;
	skip_space(cl);
	if (cl->p < cl->end && (*cl->p == '"' || *cl->p == '\'') && quoted(cl, &value))
		return value;
	value.p = cl->p;
	while (cl->p < cl->end && !pd_ascii_space(*cl->p) && *cl->p != '>')
		cl->p++;
	value.n = (size_t)(cl->p - value.p);
	return value;
}

/* Cut a value to the maximum size, at a character boundary. */
static struct pd_span bounded(struct pd_span value)
{
	if (value.n <= PD_ATTR_SIZE_MAX)
		return value;
	value.n = PD_ATTR_SIZE_MAX;
	while (value.n && ((uint8_t)value.p[value.n] & 0xC0) == 0x80)
		value.n--;
	return value;
}

static bool is_frame(enum pd_tag t)
{
	return t == PD_TAG_iframe || t == PD_TAG_frame;
}

static struct pd_span held_span(const struct cleaner *cl, struct held_text t)
{
	return pd_span(cl->held.p + t.at, t.n);
}

/* Return whether the tag already has this attribute; the first of several wins. */
static bool has_attribute(const struct cleaner *cl, enum pd_attr_id id, struct pd_span name)
{
	bool has = false;
	for (size_t i = cl->tag_attrs; i < cl->n_attrs && !has; i++) {
		struct pd_span other = held_span(cl, cl->attrs[i].name);
		has = cl->attrs[i].id == id && other.n == name.n;
		for (size_t c = 0; has && c < name.n; c++)
			has = other.p[c] == pd_ascii_lower(name.p[c]);
	}
	return has;
}

static bool attribute(struct cleaner *cl, enum pd_tag tag)
{
	struct pd_span name = attr_name(cl), value = attr_value(cl);
	if (tag == PD_TAG_NONE)
		return false;
	if (cl->links && is_frame(tag) && pd_span_ieq(name, "src"))
		cl->src = bounded(value);
	enum pd_attr_id id = cl->all ? attr_by_name(name) : wanted_attr(tag, name, cl->links);
	if (cl->all ? !plain_name(name) : id == PD_ATTR_OTHER)
		return false;
	if (has_attribute(cl, id, name))
		return true;
	cl->attrs = pd_grow(cl->attrs, cl->n_attrs, &cl->cap_attrs, sizeof *cl->attrs);
	struct held_attr *a = &cl->attrs[cl->n_attrs++];
	a->id = id;
	a->name = hold_name(cl, name);
	a->value = hold_value(cl, bounded(value));
	return true;
}

static bool scan_attributes(struct cleaner *cl, enum pd_tag tag, bool *self_closing)
{
	int written = 0;
	*self_closing = false;
	cl->tag_attrs = cl->n_attrs;
	while (cl->p < cl->end) {
		char c = *cl->p;
		if (c == '>') {
			cl->p++;
			return true;
		}
		if (c == '/' || pd_ascii_space(c)) {
			cl->p++;
			*self_closing = c == '/';
			continue;
		}
		*self_closing = false;
		if (attribute(cl, tag) && ++written == PD_ATTRS_MAX)
			tag = PD_TAG_NONE;
	}
	return false;
}

/*
 * The page is split into text and tags (HTML standard, 13.2.5).  Each tag is kept, removed, or removed with its
 * content.
 */

static bool name_end(char c)
{
	return c == '>' || c == '/' || pd_ascii_space(c);
}

/* Elements that are removed with their content.  The first kind contains no markup and ends at its first end tag; the
 * second kind can be nested. */
static bool raw(enum pd_tag t)
{
	return t == PD_TAG_script || t == PD_TAG_style || t == PD_TAG_noscript || t == PD_TAG_iframe || t == PD_TAG_noembed ||
	       t == PD_TAG_noframes;
}

static bool island(enum pd_tag t)
{
	return t == PD_TAG_svg || t == PD_TAG_template || t == PD_TAG_math || t == PD_TAG_video || t == PD_TAG_audio ||
	       t == PD_TAG_canvas || t == PD_TAG_object;
}

static bool holds_text(enum pd_tag t)
{
	return t == PD_TAG_title || t == PD_TAG_textarea || t == PD_TAG_xmp;
}

/* Return whether the name of the tag that starts at p is `name`. */
static bool tag_is(const struct cleaner *cl, const char *p, struct pd_span name)
{
	return (size_t)(cl->end - p) > name.n && name_end(p[name.n]) && pd_span_ieq(pd_span(p, name.n), name.p);
}

/* Return the start of the next end tag of `t`, or NULL. */
static const char *end_tag_of(struct cleaner *cl, enum pd_tag t)
{
	struct pd_span name = pd_span_z(pd_tag_name(t));
	const char *q = cl->unclosed[t] ? NULL : cl->p;
	for (; q && (q = memchr(q, '<', (size_t)(cl->end - q))); q++)
		if (cl->end - q > 2 && q[1] == '/' && tag_is(cl, q + 2, name))
			return q;
	cl->unclosed[t] = true;
	return NULL;
}

/* Like end_tag_of, for an element that may contain others of the same name. */
static const char *own_end_tag_of(struct cleaner *cl, enum pd_tag t)
{
	struct pd_span name = pd_span_z(pd_tag_name(t));
	const char *q = cl->unclosed[t] ? NULL : cl->p;
	for (int depth = 1; q && (q = memchr(q, '<', (size_t)(cl->end - q))); q++) {
		if (cl->end - q > 2 && q[1] == '/' && tag_is(cl, q + 2, name) && --depth == 0)
			return q;
		if (!tag_is(cl, q + 1, name))
			continue;
		q = memchr(q, '>', (size_t)(cl->end - q));
		if (!q)
			break;
		depth += q[-1] != '/';
	}
	cl->unclosed[t] = true;
	return NULL;
}

static void skip_past(struct cleaner *cl, char c)
{
	const char *q = memchr(cl->p, c, (size_t)(cl->end - cl->p));
	cl->p = q ? q + 1 : cl->end;
}

/* Skip a comment.  cl->p is after "<!--". */
static void comment(struct cleaner *cl)
{
	struct pd_span s = pd_span(cl->p, (size_t)(cl->end - cl->p));
	if (s.n >= 1 && s.p[0] == '>') {
		cl->p += 1;
		return;
	}
	if (s.n >= 2 && memcmp(s.p, "->", 2) == 0) {
		cl->p += 2;
		return;
	}
	const char *q = s.p;
	for (; (q = memchr(q, '>', (size_t)(cl->end - q))); q++) {
		bool plain = q - s.p >= 2 && memcmp(q - 2, "--", 2) == 0;
		if (plain || (q - s.p >= 3 && memcmp(q - 3, "--!", 3) == 0))
			break;
	}
	cl->p = q ? q + 1 : cl->end;
}

static void declaration(struct cleaner *cl)
{
	if (cl->end - cl->p >= 4 && memcmp(cl->p, "<!--", 4) == 0) {
		cl->p += 4;
		comment(cl);
	} else {
		skip_past(cl, '>');
	}
}

static enum pd_tag tag_name(struct cleaner *cl)
{
	const char *at = cl->p;
	while (cl->p < cl->end && !name_end(*cl->p))
		cl->p++;
	return pd_tag_by_name(pd_span(at, (size_t)(cl->p - at)));
}

static void end_tag(struct cleaner *cl)
{
	bool self_closing;
	cl->p += 2;
	enum pd_tag t = tag_name(cl);
	if (!scan_attributes(cl, PD_TAG_NONE, &self_closing) || t == PD_TAG_NONE)
		return;
	if (t == PD_TAG_br)
		put_token(cl, TOKEN_VOID, t);
	if (t == PD_TAG_noscript && cl->unfolded) {
		cl->unfolded = false;
		t = PD_TAG_div;
	}
	if (!pd_tag_void(t))
		put_token(cl, TOKEN_END, t);
}

/* Skip the content of an element that is removed.  Return false if the element has no end tag and must be kept.  An
 * unclosed script or style hides the rest of the page.  For other raw text only the start tag is removed.  The parser
 * decides where an unclosed island ends. */
static bool drop_content(struct cleaner *cl, enum pd_tag t)
{
	const char *end = raw(t) ? end_tag_of(cl, t) : own_end_tag_of(cl, t);
	if (end) {
		cl->p = end;
		skip_past(cl, '>');
	} else if (t == PD_TAG_script || t == PD_TAG_style) {
		cl->p = cl->end;
	}
	return end || raw(t);
}

/* Read the content as text up to the end tag; without an end tag, up to the next tag. */
static void plain_content(struct cleaner *cl, enum pd_tag t)
{
	const char *end = end_tag_of(cl, t);
	if (end)
		copy_text(cl, end, true);
	else
		copy_text(cl, cl->end, false);
	put_token(cl, TOKEN_END, t);
}

/* Read the content after a start tag of `t`.  Return false if the token of the start tag must be removed. */
static bool content(struct cleaner *cl, enum pd_tag t, bool self_closing)
{
	if (t == PD_TAG_noscript && cl->unfolded)
		return false;
	if (self_closing)
		return !raw(t) && !island(t);
	if ((raw(t) || island(t)) && drop_content(cl, t))
		return false;
	if (holds_text(t))
		plain_content(cl, t);
	return true;
}

/* Open a div in place of the noscript whose start tag is the last token.  Return true if a div was opened. */
static bool unfold_noscript(struct cleaner *cl)
{
	const char *end = end_tag_of(cl, PD_TAG_noscript);
	if (!end || end - cl->p < NOSCRIPT_MIN)
		return false;
	cl->noscript += (size_t)(end - cl->p);
	if (!cl->unfold)
		return false;
	cl->tokens[cl->n_tokens - 1] = (struct token){ .kind = TOKEN_START, .tag = PD_TAG_div };
	cl->unfolded = true;
	return true;
}

/* Hold the address of the frame whose tag has just been read, until its position is reached. */
static void put_frame(struct cleaner *cl)
{
	struct pd_span src = pd_span_trim(cl->src);
	struct frame_at at = { .at = cl->frames.n };
	cl->src = pd_span(NULL, 0);
	if (!src.n || cl->n_frames == FRAMES_MAX)
		return;
	while (src.n) {
		uint32_t cp = 0;
		size_t n = src.p[0] == '&' ? pd_reference(src, true, &cp) : 0;
		if (n)
			pd_buf_add_utf8(&cl->frames, cp);
		else
			pd_buf_add_c(&cl->frames, src.p[0]);
		src = pd_span(src.p + (n ? n : 1), src.n - (n ? n : 1));
	}
	at.n = cl->frames.n - at.at;
	cl->frame_at = pd_grow(cl->frame_at, cl->n_frames, &cl->cap_frames, sizeof *cl->frame_at);
	cl->frame_at[cl->n_frames] = at;
	put_token(cl, TOKEN_FRAME, PD_TAG_NONE)->frame = (uint32_t)cl->n_frames++;
}

static void start_tag(struct cleaner *cl)
{
	size_t mark = cl->n_tokens, held = cl->held.n, n_attrs = cl->n_attrs;
	bool self_closing;
	cl->p++;
	enum pd_tag t = tag_name(cl);
	bool whole = scan_attributes(cl, t, &self_closing) && t != PD_TAG_NONE;
	if (!whole)
		cl->src = pd_span(NULL, 0);
	self_closing |= pd_tag_void(t);
	if (whole) {
		struct token *start = put_token(cl, self_closing ? TOKEN_VOID : TOKEN_START, t);
		start->n_attrs = (uint8_t)(cl->n_attrs - cl->tag_attrs);
		start->attrs = (uint32_t)cl->tag_attrs;
	}
	if (whole && t == PD_TAG_noscript && !self_closing && !cl->unfolded && unfold_noscript(cl))
		return;
	if (!whole || !content(cl, t, self_closing)) {
		cl->n_tokens = mark;
		cl->held.n = held;
		cl->n_attrs = n_attrs;
	}
	if (cl->src.n)
		put_frame(cl);
}

/* Read markup.  cl->p is at a '<'. */
static void markup(struct cleaner *cl)
{
	char next = cl->end - cl->p > 1 ? cl->p[1] : 0;
	if (pd_ascii_letter(next)) {
		start_tag(cl);
	} else if (next == '!' || next == '?') {
		declaration(cl);
	} else if (next == '/' && cl->end - cl->p > 2) {
		if (pd_ascii_letter(cl->p[2]))
			end_tag(cl);
		else
			skip_past(cl, '>');
	} else {
		hold_bytes(cl, cl->p++, 1);
		put_text(cl, cl->held.n - 1);
	}
}

static void clean_source(struct cleaner *cl, struct pd_span html)
{
	if (html.n >= 3 && memcmp(html.p, "\xEF\xBB\xBF", 3) == 0)
		html = pd_span(html.p + 3, html.n - 3);
	if (html.n == 0)
		html = pd_span("", 0);
	pd_buf_clear(&cl->held);
	cl->n_tokens = cl->n_attrs = 0;
	memset(cl->unclosed, 0, sizeof(cl->unclosed));
	memset(cl->unquoted, 0, sizeof(cl->unquoted));
	cl->noscript = 0;
	cl->unfolded = false;
	cl->src = pd_span(NULL, 0);
	pd_buf_clear(&cl->frames);
	cl->n_frames = 0;
	cl->p = html.p;
	cl->end = html.p + html.n;
	while (cl->p < cl->end) {
		copy_text(cl, cl->end, false);
		if (cl->p < cl->end)
			markup(cl);
	}
}

static void cleaner_release(struct cleaner *cl)
{
	pd_buf_release(&cl->held);
	pd_buf_release(&cl->frames);
	free(cl->tokens);
	free(cl->attrs);
	free(cl->frame_at);
}

/* ==== the parser ==== */

#define OPTIONS (HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET | HTML_PARSE_IGNORE_ENC)
#define CACHE_SIZE 512 /* a power of two, over twice the number of tags */
#define DICT_MAX 8192  /* names; after so many names, which the parser keeps, it is renewed */
#define LEVELS_MAX (PD_DEPTH_MAX + 128)

struct element {
	int level; /* in libxml2's stack */
	enum pd_tag tag;
};

/* libxml2 interns names, so a tag is looked up once for each address. */
struct cached {
	const xmlChar *name;
	enum pd_tag tag;
};

/* A start tag that has no end tag yet. */
struct open_tag {
	uint32_t token, height; /* depth of the elements in it so far */
	bool balanced;		/* no imbalance found so far */
};

struct pd_saxer {
	const struct pd_html_sink *sink;
	void *self;
	htmlParserCtxtPtr ctxt;
	struct cleaner cleaner;
	struct pd_buf markup;
	bool entire;   /* the parser gets all elements of every page */
	bool too_deep; /* it must get all elements of this page */
	struct open_tag *open_tags;
	size_t n_open_tags, cap_open_tags;
	uint32_t open_of[PD_TAG_COUNT];		   /* number of open elements of each tag */
	uint8_t nests[PD_TAG_COUNT][PD_TAG_COUNT]; /* enum nests: [open element][element that starts in it] */
	enum pd_tag tested[2];
	bool stayed_open; /* result of test_nesting */
	size_t letters;	  /* given to texts */
	struct element open[PD_DEPTH_MAX];
	int n;
	size_t next_token;   /* index of the first text that the parser has not returned yet */
	int ignored;	     /* level of the enclosing ignored element, or 0 */
	bool html, body;     /* open(html), open(body) have been sent */
	bool implied_body;   /* the last event opened an implied body, which is not in the page */
	struct pd_buf space; /* white space outside the body, held until it is known whether a paragraph begins with
				 * it */
	struct cached cache[CACHE_SIZE];
};

/* Since version 2.14 libxml2 treats everything after <plaintext> as text, as browsers do.  Older versions treat it like
 * other elements, and so does this program.  Therefore libxml2 gets it under a name that no version knows. */
#define PLAINTEXT "x-plaintext"

static const char *name_in_markup(enum pd_tag t)
{
	return t == PD_TAG_plaintext ? PLAINTEXT : pd_tag_name(t);
}

static enum pd_tag tag_of(struct pd_saxer *s, const xmlChar *name)
{
	size_t i = ((uintptr_t)name * 0x9E3779B97F4A7C15u) >> 40;
	struct cached *c = &s->cache[i % CACHE_SIZE];
	if (c->name != name)
		*c = (struct cached){ name, strcmp((const char *)name, PLAINTEXT) == 0
						    ? PD_TAG_plaintext
						    : pd_tag_by_name(pd_span_z((const char *)name)) };
	return c->tag;
}

/* Close all open elements at `level` or deeper. */
static void close_from(struct pd_saxer *s, int level)
{
	while (s->n && s->open[s->n - 1].level >= level)
		s->sink->close(s->self, s->open[--s->n].tag);
}

/* libxml2 searches its whole stack for the element of an end tag, so a deep page without end tags would take quadratic
 * time.  Beyond PD_DEPTH_MAX all elements but the innermost are removed from its stack. */
static void cut_stack(struct pd_saxer *s)
{
	htmlParserCtxtPtr c = s->ctxt;
	c->nameTab[PD_DEPTH_MAX] = c->nameTab[c->nameNr - 1];
	c->nameNr = PD_DEPTH_MAX + 1;
	if (s->ignored > PD_DEPTH_MAX)
		s->ignored = PD_DEPTH_MAX;
}

/* Return the start tag.  The parser returns its number as the only attribute; NULL: the element has none. */
static const struct token *take_token(const struct cleaner *cl, const xmlChar **atts)
{
	uint64_t number;
	if (!atts || !atts[0] || !atts[1] || !pd_span_u64(pd_span_z((const char *)atts[1]), &number) || number >= cl->n_tokens)
		return NULL;
	return &cl->tokens[number];
}

/* `from` may be NULL. */
static void send_open(struct pd_saxer *s, enum pd_tag t, const struct token *from)
{
	const struct cleaner *cl = &s->cleaner;
	struct pd_attr attrs[PD_ATTRS_MAX];
	size_t n = from ? from->n_attrs : 0;
	for (size_t i = 0; i < n; i++) {
		const struct held_attr *a = &cl->attrs[from->attrs + i];
		attrs[i] = (struct pd_attr){ a->id, held_span(cl, a->name), held_span(cl, a->value) };
	}
	s->sink->open(s->self, t, attrs, n);
}

static void need_html(struct pd_saxer *s)
{
	if (!s->html)
		send_open(s, PD_TAG_html, NULL);
	s->html = true;
}

/* Send the start of html or body, which stay open to the end.  Any other open element ends where the body begins. */
static void open_root(struct pd_saxer *s, enum pd_tag t, const struct token *from)
{
	bool *sent = t == PD_TAG_html ? &s->html : &s->body;
	if (*sent)
		return;
	if (t == PD_TAG_body) {
		need_html(s);
		close_from(s, 0);
		s->ignored = 0;
	}
	*sent = true;
	send_open(s, t, from);
}

static void start_element(struct pd_saxer *s, enum pd_tag t, int level, const struct token *from)
{
	if (t == PD_TAG_html || t == PD_TAG_body) {
		open_root(s, t, from);
		return;
	}
	if (s->ignored && level > s->ignored)
		return;
	s->ignored = 0;
	close_from(s, level);
	if (t == PD_TAG_NONE)
		return;
	if (pd_tag_class(t) == PD_CLASS_IGNORE) {
		s->ignored = level;
		return;
	}
	if (s->n == PD_DEPTH_MAX - 2) /* html and body are not in `open` */
		return;
	need_html(s);
	send_open(s, t, from);
	if (pd_tag_void(t))
		s->sink->close(s->self, t);
	else
		s->open[s->n++] = (struct element){ level, t };
}

static void send_space(struct pd_saxer *s)
{
	if (!s->space.n)
		return;
	need_html(s);
	s->sink->text(s->self, pd_buf_span(&s->space));
	pd_buf_clear(&s->space);
}

static void end_element(struct pd_saxer *s, enum pd_tag t, int level)
{
	if (t == PD_TAG_html || t == PD_TAG_body || (s->ignored && level > s->ignored))
		return;
	s->ignored = 0;
	close_from(s, level);
}

static void send_frame(struct pd_saxer *s, uint64_t i)
{
	const struct cleaner *cl = &s->cleaner;
	if (s->ignored || i >= cl->n_frames)
		return;
	need_html(s);
	s->sink->frame(s->self, pd_span(cl->frames.p + cl->frame_at[i].at, cl->frame_at[i].n));
}

/* Send the content of a balanced element.  Its start tag is token `i` and has just been sent. */
static void send_balanced(struct pd_saxer *s, size_t i, int level)
{
	const struct token *tokens = s->cleaner.tokens;
	size_t end = tokens[i].end;
	if (level + (int)tokens[end].height > LEVELS_MAX) /* here the parser's stack would be cut */
		s->too_deep = true;
	for (i++; i < end; i++) {
		const struct token *t = &tokens[i];
		switch ((enum token_kind)t->kind) {
		case TOKEN_START: start_element(s, t->tag, ++level, t); break;
		case TOKEN_VOID:
			start_element(s, t->tag, level + 1, t);
			end_element(s, t->tag, level + 1);
			break;
		case TOKEN_END: end_element(s, t->tag, level--); break;
		case TOKEN_TEXT:
		case TOKEN_SPACE:
			if (!s->ignored)
				s->sink->text(s->self, held_span(&s->cleaner, t->text));
			break;
		case TOKEN_FRAME: send_frame(s, t->frame); break;
		}
	}
	s->next_token = end;
}

/* Handle an element that the parser has just pushed on its stack. */
static void start_pushed(struct pd_saxer *s, enum pd_tag t, const struct token *from)
{
	if (s->ctxt->nameNr > LEVELS_MAX)
		cut_stack(s);
	start_element(s, t, s->ctxt->nameNr, from);
}

static void on_start(void *ctx, const xmlChar *name, const xmlChar **atts)
{
	struct pd_saxer *s = ctx;
	enum pd_tag t = tag_of(s, name);
	const struct token *from = take_token(&s->cleaner, atts);
	/* libxml2 implies one for text after the end */
	if (!(t == PD_TAG_html && s->html) && !(t == PD_TAG_body && s->body))
		send_space(s);
	s->implied_body = t == PD_TAG_body && !atts;
	start_pushed(s, t, from);
	if (from && from->end)
		send_balanced(s, (size_t)(from - s->cleaner.tokens), s->ctxt->nameNr);
}

static void on_end(void *ctx, const xmlChar *name)
{
	struct pd_saxer *s = ctx;
	send_space(s);
	s->implied_body = false;
	end_element(s, tag_of(s, name), s->ctxt->nameNr);
}

/* Since version 2.14 libxml2 implies no paragraph for text outside the body, as the HTML standard says.  To read a page
 * alike with every version, a paragraph is begun here, on libxml2's own stack, so that it ends like any other.  White
 * space is held until something follows it.  Return true if the text is outside the body and was handled here. */
static bool is_outside(struct pd_saxer *s, struct pd_span text)
{
	htmlParserCtxtPtr c = s->ctxt;
	enum pd_tag in = c->name ? tag_of(s, c->name) : PD_TAG_html;
	if ((!s->implied_body && in != PD_TAG_html && in != PD_TAG_head) || c->nameNr >= c->nameMax)
		return false;
	if (!pd_span_trim(text).n) {
		if (!s->ignored)
			pd_buf_add_span(&s->space, text);
		return true;
	}
	c->name = c->nameTab[c->nameNr++] = pd_check_alloc((void *)xmlDictLookup(c->dict, BAD_CAST "p", 1));
	s->implied_body = false;
	start_pushed(s, PD_TAG_p, NULL);
	send_space(s);
	return false;
}

/* Return the text that a letter represents.  Texts come in order; a missing text would be noticed. */
static struct pd_span next_text(struct pd_saxer *s, char letter)
{
	const struct cleaner *cl = &s->cleaner;
	while (s->next_token < cl->n_tokens) {
		const struct token *t = &cl->tokens[s->next_token++];
		if (t->kind == TOKEN_TEXT && t->tag == (uint8_t)letter)
			return held_span(cl, t->text);
	}
	return pd_span("", 0);
}

/* Text events are letters, and white space that represents itself. */
static void on_text(void *ctx, const xmlChar *p, int n)
{
	struct pd_saxer *s = ctx;
	const char *at = (const char *)p, *end = at + (n > 0 ? n : 0);
	if (LIBXML_VERSION >= 21400 && n > 0 && is_outside(s, pd_span(at, (size_t)n)))
		return;
	if (at < end && !s->ignored)
		need_html(s);
	while (at < end) {
		const char *from = at;
		while (at < end && pd_ascii_space(*at))
			at++;
		struct pd_span text = at > from ? pd_span(from, (size_t)(at - from)) : next_text(s, *at++);
		if (!s->ignored && text.n)
			s->sink->text(s->self, text);
	}
}

/* All comments are made by this file; each is the number of a frame. */
static void on_comment(void *ctx, const xmlChar *text)
{
	struct pd_saxer *s = ctx;
	uint64_t i;
	send_space(s);
	if (pd_span_u64(pd_span_z((const char *)text), &i))
		send_frame(s, i);
}

void pd_html_own_memory(void)
{
	xmlMemSetup(free, pd_alloc, pd_realloc, pd_strdup);
}

/* Make a parser without a document: the handlers of this file replace those that build a tree. */
static void renew(struct pd_saxer *s)
{
	static const char nothing[1] = "";
	if (s->ctxt)
		htmlFreeParserCtxt(s->ctxt);
	s->ctxt = NULL;
	s->ctxt = pd_check_alloc(htmlCreateMemoryParserCtxt(nothing, sizeof(nothing)));
	*s->ctxt->sax = (xmlSAXHandler){
		.startElement = on_start,
		.endElement = on_end,
		.characters = on_text,
		.ignorableWhitespace = on_text,
		.cdataBlock = on_text,
		.comment = s->cleaner.links ? on_comment : NULL,
	};
	s->ctxt->userData = s;
	memset(s->cache, 0, sizeof(s->cache));
}

/* ==== balanced elements ====
 *
 * An element is balanced if it is closed by its own end tag, all elements in it are balanced, and the parser accepts
 * each of them in its place: it closes nothing before it and implies nothing around it.  Whether it would is tested
 * with the parser itself, once for each pair of tags.  The parser gets a balanced element empty, with the number of its
 * start tag, and decides how the element affects its surroundings.  When it returns the number, the content of the
 * element is sent as it is in the page. */

enum nests { NESTS_UNKNOWN, NESTS, NESTS_NOT };

/* Record whether the first of the last two started elements is still open. */
static void on_test_start(void *ctx, const xmlChar *name, const xmlChar **atts)
{
	struct pd_saxer *s = ctx;
	htmlParserCtxtPtr c = s->ctxt;
	enum pd_tag outer = c->nameNr > 1 ? tag_of(s, c->nameTab[c->nameNr - 2]) : PD_TAG_NONE;
	s->stayed_open = s->tested[1] == tag_of(s, name) && s->tested[0] == outer;
}

static void parse(struct pd_saxer *s, struct pd_span markup)
{
	htmlCtxtReadMemory(s->ctxt, markup.p, (int)markup.n, NULL, "UTF-8", OPTIONS);
	if (s->ctxt->errNo == XML_ERR_NO_MEMORY)
		pd_out_of_memory();
}

/* Tags that form the page's frame or change the parser's rules are left to the parser. */
static bool is_frame_of_page(enum pd_tag t)
{
	switch (t) {
	case PD_TAG_html:
	case PD_TAG_head:
	case PD_TAG_body:
	case PD_TAG_frameset:
	case PD_TAG_frame:
	case PD_TAG_noframes:
	case PD_TAG_script:
	case PD_TAG_style:
	case PD_TAG_plaintext: return true;
	default: return false;
	}
}

static enum nests test_nesting(struct pd_saxer *s, enum pd_tag outer, enum pd_tag inner)
{
	xmlSAXHandler usual = *s->ctxt->sax;
	if (is_frame_of_page(outer) || is_frame_of_page(inner))
		return NESTS_NOT;
	pd_buf_clear(&s->markup);
	pd_buf_printf(&s->markup, "<html><body a=\"\"><div><%s><%s>", name_in_markup(outer), name_in_markup(inner));
	*s->ctxt->sax = (xmlSAXHandler){ .startElement = on_test_start };
	s->tested[0] = outer;
	s->tested[1] = inner;
	s->stayed_open = false;
	parse(s, pd_buf_span(&s->markup));
	*s->ctxt->sax = usual;
	return s->stayed_open ? NESTS : NESTS_NOT;
}

static bool nests_in(struct pd_saxer *s, enum pd_tag outer, enum pd_tag inner)
{
	uint8_t *known = &s->nests[outer][inner];
	if (*known == NESTS_UNKNOWN)
		*known = (uint8_t)test_nesting(s, outer, inner);
	return *known == NESTS;
}

/* Close the innermost open start tag, by its own end tag or by another one. */
static struct open_tag pop_open_tag(struct pd_saxer *s)
{
	struct open_tag last = s->open_tags[--s->n_open_tags];
	s->open_of[s->cleaner.tokens[last.token].tag]--;
	if (s->n_open_tags) {
		struct open_tag *around = &s->open_tags[s->n_open_tags - 1];
		around->balanced &= last.balanced;
		around->height = around->height > last.height ? around->height : last.height + 1;
	}
	return last;
}

static void start_balance(struct pd_saxer *s, uint32_t i)
{
	const struct token *t = &s->cleaner.tokens[i];
	struct open_tag *around = s->n_open_tags ? &s->open_tags[s->n_open_tags - 1] : NULL;
	if (around && around->balanced && !nests_in(s, s->cleaner.tokens[around->token].tag, t->tag))
		around->balanced = false;
	if (t->kind == TOKEN_VOID) {
		if (around && !around->height)
			around->height = 1;
		return;
	}
	s->open_tags = pd_grow(s->open_tags, s->n_open_tags, &s->cap_open_tags, sizeof *s->open_tags);
	s->open_tags[s->n_open_tags++] = (struct open_tag){ .token = i, .balanced = !is_frame_of_page(t->tag) };
	s->open_of[t->tag]++;
}

static void end_balance(struct pd_saxer *s, uint32_t i)
{
	struct token *tokens = s->cleaner.tokens;
	enum pd_tag t = tokens[i].tag;
	while (s->open_of[t]) {
		struct open_tag *last = &s->open_tags[s->n_open_tags - 1];
		bool own = tokens[last->token].tag == t;
		last->balanced &= own;
		if (own && last->balanced) {
			tokens[last->token].end = i;
			tokens[i].height = last->height;
		}
		pop_open_tag(s);
		if (own)
			return;
	}
	if (s->n_open_tags)
		s->open_tags[s->n_open_tags - 1].balanced = false;
}

static void find_balanced(struct pd_saxer *s)
{
	const struct cleaner *cl = &s->cleaner;
	s->n_open_tags = 0;
	memset(s->open_of, 0, sizeof s->open_of);
	for (uint32_t i = 0; i < cl->n_tokens; i++) {
		enum token_kind kind = cl->tokens[i].kind;
		if (kind == TOKEN_START || kind == TOKEN_VOID)
			start_balance(s, i);
		else if (kind == TOKEN_END)
			end_balance(s, i);
	}
}

static void put_z(struct pd_buf *b, const char *z)
{
	pd_buf_add(b, z, strlen(z));
}

/* Append the number of a start tag as its only attribute. */
static void put_number(struct pd_buf *b, size_t v)
{
	char digits[24], *at = digits + sizeof digits;
	*--at = '"';
	do
		*--at = (char)('0' + v % 10);
	while (v /= 10);
	put_z(b, " a=\"");
	pd_buf_add(b, at, (size_t)(digits + sizeof digits - at));
}

static void put_start_tag(struct pd_saxer *s, size_t i)
{
	const struct token *t = &s->cleaner.tokens[i];
	struct pd_buf *out = &s->markup;
	put_z(out, "<");
	put_z(out, name_in_markup(t->tag));
	if (t->n_attrs || t->end)
		put_number(out, i);
	else if (t->tag == PD_TAG_body)
		put_z(out, " a=\"\""); /* an implied one has no attribute */
	put_z(out, t->kind == TOKEN_VOID ? "/>" : ">");
}

/* Give a text the letter that represents it (see above). */
static void put_letter(struct pd_saxer *s, struct token *text)
{
	text->tag = (uint8_t)('a' + s->letters++ % 26);
	pd_buf_add_c(&s->markup, (char)text->tag);
}

static void put_markup(struct pd_saxer *s)
{
	struct cleaner *cl = &s->cleaner;
	pd_buf_clear(&s->markup);
	s->letters = 0;
	for (size_t i = 0; i < cl->n_tokens; i++) {
		struct token *t = &cl->tokens[i];
		switch ((enum token_kind)t->kind) {
		case TOKEN_START:
		case TOKEN_VOID:
			put_start_tag(s, i);
			if (!t->end)
				break;
			t = &cl->tokens[i = t->end];
			/* fall through */
		case TOKEN_END:
			put_z(&s->markup, "</");
			put_z(&s->markup, name_in_markup(t->tag));
			put_z(&s->markup, ">");
			break;
		case TOKEN_TEXT: put_letter(s, t); break;
		case TOKEN_SPACE: pd_buf_add_span(&s->markup, held_span(cl, t->text)); break;
		case TOKEN_FRAME: pd_buf_printf(&s->markup, "<!--%" PRIu32 "-->", t->frame); break;
		}
	}
}

/* ==== a page ==== */

struct pd_saxer *pd_saxer_new(const struct pd_html_sink *sink, void *self, enum pd_saxer_want want)
{
	static int ready;
	struct pd_saxer *s = pd_zalloc(sizeof(*s));
	/* libxml2 would initialise itself with the first parser, but not safely if threads make their first parsers at
	 * the same time. */
	pd_once(&ready, xmlInitParser);
	s->sink = sink;
	s->self = self;
	s->cleaner.all = want & PD_SAXER_ALL_ATTRIBUTES;
	s->cleaner.links = want & PD_SAXER_LINKS;
	s->entire = want & PD_SAXER_ENTIRE;
	renew(s);
	return s;
}

void pd_saxer_free(struct pd_saxer *s)
{
	if (!s)
		return;
	htmlFreeParserCtxt(s->ctxt);
	pd_buf_release(&s->space);
	pd_buf_release(&s->markup);
	free(s->open_tags);
	cleaner_release(&s->cleaner);
	free(s);
}

/* Send the events of the page that the cleaner holds. */
static void send_events(struct pd_saxer *s)
{
	if (xmlDictSize(s->ctxt->dict) > DICT_MAX)
		renew(s);
	s->n = 0;
	s->next_token = 0;
	s->ignored = 0;
	s->html = s->body = s->too_deep = false;
	put_markup(s);
	if (s->markup.n && s->markup.n <= INT32_MAX)
		parse(s, pd_buf_span(&s->markup));
	send_space(s);
	need_html(s);
	close_from(s, 0);
	if (s->body)
		s->sink->close(s->self, PD_TAG_body);
	s->sink->close(s->self, PD_TAG_html);
}

size_t pd_saxer_run(struct pd_saxer *s, struct pd_span utf8, bool unfold)
{
	/* libxml2 keeps data for each thread, and would continue without it if there is no memory. */
#if LIBXML_VERSION >= 21200
	if (xmlCheckThreadLocalStorage())
		pd_out_of_memory();
#else
	pd_check_alloc(xmlGetGlobalState());
#endif
	struct cleaner *cl = &s->cleaner;
	cl->unfold = unfold;
	clean_source(cl, utf8.n <= INT32_MAX ? utf8 : pd_span("", 0));
	if (!s->entire)
		find_balanced(s);
	s->sink->begin(s->self);
	send_events(s);
	if (s->too_deep) {
		for (size_t i = 0; i < cl->n_tokens; i++)
			if (cl->tokens[i].kind == TOKEN_START)
				cl->tokens[i].end = 0;
		s->sink->begin(s->self);
		send_events(s);
	}
	pd_buf_shrink(&s->markup, 16 << 20);
	pd_buf_shrink(&cl->held, 16 << 20);
	pd_buf_shrink(&cl->frames, 1 << 20);
	return cl->noscript;
}
