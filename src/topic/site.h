/* SPDX-License-Identifier: MIT
 *
 * The records and the file format of learned boilerplate.  From the lines of a page: the record that learning keeps of
 * it, and, if the page's host is known, marks on its repeated lines before the extractor decides.  Then the layout of
 * the table of all hosts in its file.  The code is in boilerplate.c.
 *
 * A line has two keys: one of its text, and one of its path, the tags and classes of the boxes around it, from the page
 * down.  Both are XXH3-64, as in the table.
 *
 * The record of a page has its keys of lines with signatures of its text.  It is little-endian, and the table has its
 * samples in the same form (docs/format-boilerplate.md).
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
 * A record has the lines that contain a letter and are not mostly links, each once with each of its paths.  If a page
 * has more than PD_SITE_LINES_MAX of them, or of paths, the smallest keys are taken, so that two pages keep the same
 * ones.
 */
#ifndef PD_TOPIC_SITE_H
#define PD_TOPIC_SITE_H

#include "topic/topic.h"

#define PD_SITE_LINES_MAX 1000
#define PD_SITE_PATHS_MAX 1000
#define PD_SITE_HEADER 48
#define PD_SITE_NAME_MAX 255

/* A line of a page: the runs between two box borders, which readers see as one paragraph, heading, list item or
 * cell. */
struct pd_line {
	uint32_t first_run, end_run;
	uint32_t box;		  /* innermost box */
	uint32_t flow;		  /* box of the flow of paragraphs, lists and tables that it is part of */
	uint32_t mass, link_mass; /* bytes of its text; of these, inside links */
	uint32_t chars;		  /* code points */
	bool stop;		  /* contains a sign that ends or separates sentences, outside links */
	bool site;		  /* repeated by the site: it has no weight */
	bool notice;		  /* a licence, a copyright, a request to accept cookies: not prose (cues.h) */
	bool prose;		  /* reads like sentences, by itself or with its flow */
};

/* Scratch. */
struct pd_site_keys {
	uint64_t *boxes; /* box -> its path; one for each box */
	size_t cap_boxes;
	struct pd_buf scratch, host;
	struct pd_site_entry *entries, *sorted; /* lines and paths of a page before they become a record */
	struct pd_site_place *places;
	size_t n_entries, n_places, cap_entries, cap_sorted, cap_places;
};

void pd_site_keys_release(struct pd_site_keys *k);
/* Mark the lines that the site repeats.  They have no weight, so that no rule counts them.  Titles are not marked. 
 * Return the marked text outside links, in bytes. */
uint64_t pd_site_mark(struct pd_site_keys *k, const struct pd_site *s, const struct pd_blocks *in, struct pd_line *lines, size_t n);
/* Append the record of a page.  `lines` are all its lines; `why`, one entry per line, is NULL for lines of the main
 * text.  Return false if its URL has no host or a name over PD_SITE_NAME_MAX, or if it has no text. */
bool pd_site_page_make(struct pd_site_keys *k, const struct pd_blocks *in, const struct pd_line *lines, const char *const *why,
		       size_t n, struct pd_span url, struct pd_buf *out);

/* Layout of the table in its file (docs/format-boilerplate.md).  It is used in place: little-endian, numbers aligned to
 * their size. */
#define PD_BOILERPLATE_MAGIC "\x89PDBOIL\n"

struct pd_boilerplate_header {
	char magic[8];
	uint64_t checksum[2]; /* XXH3-128 of bytes 24 to samples_at, high half first */
	uint32_t version, zero;
	uint64_t length;	      /* length of the file */
	uint64_t samples_at;	      /* offset of the samples; `length` if there are none */
	uint64_t samples_checksum[2]; /* XXH3-128 of the samples */
	uint64_t hosts, keys, names;  /* entries, keys, bytes of names padded to 8 */
	uint32_t sample, texts, bits; /* parameters: PD_SITE_SAMPLE, PD_SITE_TEXTS, PD_SITE_BITS */
	uint32_t hidden;	      /* 1: hidden elements were text */
	uint64_t zeroes[3];
};

#define PD_BOILERPLATE_UNCHECKED 24 /* bytes before the range of the checksum */

/* Then `hosts` of these, ascending by key and name; then the keys, the names, the samples. */
struct pd_boilerplate_entry {
	uint64_t key;
	uint64_t keys_at;   /* index of its first key: lines, then paths */
	uint64_t name_at;   /* offset in the names */
	uint64_t sample_at; /* offset in the samples */
	uint32_t lines, paths;
	uint32_t sample;      /* bytes of its sample */
	uint16_t name, pages; /* length of the name; number of pages in the sample */
};

_Static_assert(sizeof(struct pd_boilerplate_header) == 128, "no padding");
_Static_assert(sizeof(struct pd_boilerplate_entry) == 48, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tables are used in place");

#endif
