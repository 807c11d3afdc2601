/* SPDX-License-Identifier: MIT */
#include "read/sniff.h"

enum { SNIFF = 512, XML_SNIFF = 2048 };

/* In UTF-16 every second byte of a tag is 0; remove these bytes. */
static struct pd_span without_nuls(struct pd_span s, char *room, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n && n < size; i++)
		if (s.p[i])
			room[n++] = s.p[i];
	return pd_span(room, n);
}

static bool begins(struct pd_span s, const char *p, size_t n)
{
	return s.n >= n && memcmp(s.p, p, n) == 0;
}

static bool byte_order_mark(struct pd_span s)
{
	return begins(s, "\xef\xbb\xbf", 3) || begins(s, "\xff\xfe", 2) || begins(s, "\xfe\xff", 2) || begins(s, "\0\0\xfe\xff", 4);
}

/* Formats with first bytes that could be mistaken for text. */
static bool other_magic(struct pd_span s)
{
	static const char *const magic[] = { "%PDF-", "%!PS",	  "PK\3\4", "\x89PNG", "GIF8", "\xff\xd8\xff",
					     "RIFF",  "\x1f\x8b", "BZh",    "{\\rtf",  NULL };
	for (int i = 0; magic[i]; i++)
		if (begins(s, magic[i], strlen(magic[i])))
			return true;
	return false;
}

/* Bytes that do not occur in text (tab, LF, FF, CR and ESC are allowed). */
static bool is_binary(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c < 0x20 && c != '\t' && c != '\n' && c != '\f' && c != '\r' && c != 0x1b)
			return true;
	}
	return false;
}

static bool letter_or_digit(char c)
{
	c = pd_ascii_lower(c);
	return (c >= 'a' && c <= 'z') || pd_ascii_digit(c);
}

/* Return whether s, which begins after a '<', is a common HTML tag, a comment or HTML's doctype. */
static bool html_tag(struct pd_span s)
{
	static const char *const tags[] = { "a",       "article", "b",	  "base",     "body",  "br",	 "center", "dd",
					    "div",     "dl",	  "dt",	  "em",	      "font",  "footer", "form",   "frameset",
					    "h1",      "h2",	  "h3",	  "h4",	      "h5",    "h6",	 "head",   "header",
					    "hr",      "html",	  "i",	  "iframe",   "img",   "input",	 "li",	   "link",
					    "main",    "meta",	  "nav",  "noscript", "ol",    "p",	 "pre",	   "script",
					    "section", "small",	  "span", "strong",   "style", "table",	 "tbody",  "td",
					    "th",      "title",	  "tr",	  "u",	      "ul",    NULL };
	size_t n = 0;
	if (begins(s, "!--", 3))
		return true;
	if (s.n && s.p[0] == '!')
		return pd_span_istarts(s, "!doctype html");
	if (s.n && s.p[0] == '/')
		s = pd_span(s.p + 1, s.n - 1);
	while (n < s.n && letter_or_digit(s.p[n]))
		n++;
	if (n == s.n || (s.p[n] != '>' && s.p[n] != '/' && !pd_ascii_space(s.p[n])))
		return false;
	for (int i = 0; tags[i]; i++)
		if (pd_span_ieq(pd_span(s.p, n), tags[i]))
			return true;
	return false;
}

bool pd_sniff_xhtml(struct pd_span body)
{
	char room[XML_SNIFF];
	struct pd_span s = without_nuls(body, room, sizeof room);
	for (const char *at; s.n && (at = memchr(s.p, '<', s.n));) {
		s = pd_span(at + 1, s.n - (size_t)(at + 1 - s.p));
		if (pd_span_istarts(s, "html") && s.n > 4 && !letter_or_digit(s.p[4]))
			return true;
		/* The first element after declarations and comments is the root. */
		if (s.n && letter_or_digit(s.p[0]))
			return false;
	}
	return false;
}

bool pd_sniff_is_text(struct pd_span body)
{
	struct pd_span head = pd_span(body.p, body.n < SNIFF ? body.n : SNIFF);
	return !other_magic(head) && (byte_order_mark(head) || !is_binary(head));
}

enum pd_sniffed pd_sniff(struct pd_span body)
{
	char room[SNIFF];
	struct pd_span head = pd_span(body.p, body.n < SNIFF ? body.n : SNIFF);
	if (other_magic(head))
		return PD_SNIFF_OTHER;
	struct pd_span bare = without_nuls(head, room, sizeof room), xml = bare;
	if (begins(xml, "\xef\xbb\xbf", 3))
		xml = pd_span(xml.p + 3, xml.n - 3);
	if (pd_span_istarts(pd_span_trim(xml), "<?xml"))
		return pd_sniff_xhtml(body) ? PD_SNIFF_HTML : PD_SNIFF_OTHER;
	for (const char *at; bare.n && (at = memchr(bare.p, '<', bare.n));) {
		bare = pd_span(at + 1, bare.n - (size_t)(at + 1 - bare.p));
		if (html_tag(bare))
			return PD_SNIFF_HTML;
	}
	return byte_order_mark(head) || !is_binary(head) ? PD_SNIFF_TEXT : PD_SNIFF_OTHER;
}
