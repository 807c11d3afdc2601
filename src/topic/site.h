/* SPDX-License-Identifier: MIT
 *
 * A page as its site sees it.  In: the lines of a page.  Out: keys of its lines, the record that learning keeps of it
 * (boilerplate.h), and, when the page's host is known to repeat lines, those lines marked before the extractor
 * decides.
 *
 * A line has two keys: of its text as it stands, and of its path, the tags and classes of the boxes around it from the
 * page down.  Both are XXH3-64, as the table holds them.
 *
 * The record of a page says under which text its lines stand.  It is bytes, little-endian, which is also how the table holds
 * its samples (docs/format-boilerplate.md).
 *
 *	at	bytes
 *	0	8	key of the host
 *	8	8	key of the URL
 *	16	8	signature of the text outside links
 *	24	8	signature of the main text
 *	32	4	bytes of the record, a multiple of 8
 *	36	2	bytes of the host's name
 *	38	2	paths (P)
 *	40	2	lines (L)
 *	42	6	key of title and first h1; 0: it has neither
 *	48	8 P	keys of the paths, ascending
 *		8 L	keys of the lines, ascending
 *		2 P	lines of each path that are mostly links (65,535: or more)
 *		2 L	number of each line's path
 *			name of the host, then zeroes
 *
 * Lines are those that hold a letter and are not mostly links, each once with each of its paths.  Of a page that has more
 * than PD_SITE_LINES_MAX of them, or of paths, those with the smallest keys are taken: of two pages the same ones.
 */
#ifndef PD_TOPIC_SITE_H
#define PD_TOPIC_SITE_H

#include "topic/lines.h"

#define PD_SITE_LINES_MAX 1000
#define PD_SITE_PATHS_MAX 1000
#define PD_SITE_HEADER 48
#define PD_SITE_NAME_MAX 255

/* What is known of one host: keys in ascending order, borrowed from the table. */
struct pd_site {
	const uint64_t *lines, *paths;
	size_t n_lines, n_paths;
};

struct pd_site_keys {
	uint64_t *boxes;	/* box -> its path; one a box */
	size_t cap_boxes;
	struct pd_buf scratch, host;
	struct pd_site_entry *entries;	/* a page's lines and paths before they become a record */
	struct pd_site_place *places;
	size_t n_entries, n_places, cap_entries, cap_places;
};

void pd_site_keys_release(struct pd_site_keys *k);
/* The paths of all boxes of a page. */
void pd_site_paths(struct pd_site_keys *k, const struct pd_blocks *in);
/* The key of a line's text. */
uint64_t pd_site_line(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *l);
/* Does it hold a letter?  What does not (numbers, prices, dates) is never known as repeated by its text. */
bool pd_site_letter(const struct pd_blocks *in, const struct pd_line *l);

/* Marks what the site repeats: such lines weigh nothing from here on, so that no rule counts them.  Titles stay.
 * Returns how much text outside links was marked, in bytes. */
uint64_t pd_site_mark(struct pd_site_keys *k, const struct pd_site *s, const struct pd_blocks *in, struct pd_lines *l);

/* A record, seen. */
struct pd_site_page {
	uint64_t host, url, text, main, title;
	uint32_t size;
	uint16_t n_name, n_paths, n_lines;
	const uint64_t *paths, *lines;
	const uint16_t *links, *path_of;
	const char *name;
};

/* Appends the record of a page with these lines, whose main text is `text`.  False: its URL has no host, or a name over
 * PD_SITE_NAME_MAX; or it has no text. */
bool pd_site_page_make(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_lines *lines, struct pd_span text,
		       struct pd_span url, struct pd_buf *out);
/* Sees the record that `bytes` (aligned to 8) begin with.  False: it is none, or damaged. */
bool pd_site_page_see(struct pd_span bytes, struct pd_site_page *out);
/* The signature of a text: that of a text edited a little differs in a few of 64 bits, that of another in about half. */
uint64_t pd_site_signature(struct pd_span text);
/* The key of a host, as records and tables have it. */
uint64_t pd_site_host(struct pd_span name);
/* The order of records: by host, then URL, then bytewise. */
int pd_site_page_cmp(const struct pd_site_page *a, const struct pd_site_page *b, const char *bytes_a, const char *bytes_b);

#endif
