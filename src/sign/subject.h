/* SPDX-License-Identifier: MIT
 *
 * What a page is about, by its title and its main heading: pages of one template whose texts are alike to the last line
 * are different pages when their headings differ, and versions of one page keep theirs.
 *
 * In: the blocks.  Out: two hashes of words in their folded form (term/fold.h), signs left out, numbers of sections before
 * them too:
 *
 *	heading: of the headings h1 to h3 that stand in the title as well the longest; else the only h1; 0: none
 *	title:   the title up to the first mark that parts it from the name of the site: "Tides - The Gazette"; 0: none
 *
 * Printed as 16 hexadecimal digits, the heading first; "-" when there is neither.
 *
 * The address may name the subject too: where the last part of a page's path holds the words of its heading or title, pages
 * of that name in another folder are about the same, although their headings are translated: fr/web-browsers.html,
 * "Navigateurs web", beside en/web-browsers.html, "Web browsers".
 */
#ifndef PD_SIGN_SUBJECT_H
#define PD_SIGN_SUBJECT_H

#include "page/blocks.h"
#include "term/fold.h"

struct pd_subject {
	uint32_t heading, title;
	uint32_t name;		/* the last part of the address's path; 0: none, or not said */
	bool named;		/* it holds the heading or the title */
};

struct pd_subject_finder {
	struct pd_folder *folder;	/* the caller's */
	struct pd_buf raw, folded, title, heading;
};

void pd_subject_find(struct pd_subject_finder *f, const struct pd_blocks *b, struct pd_subject *out);
/* Is each line of the main text the title or the main heading and nothing else? */
bool pd_subject_is_all(struct pd_subject_finder *f, const struct pd_subject *s, struct pd_span text);
void pd_subject_finder_release(struct pd_subject_finder *f);

/* NAMED: the headings differ, and the name of the address, which both pages have, is one of them. */
enum pd_subjects { PD_SUBJECTS_DIFFER, PD_SUBJECTS_NAMED, PD_SUBJECTS_UNKNOWN, PD_SUBJECTS_SAME };

/* What the address says of it. */
void pd_subject_set_url(struct pd_subject *s, struct pd_span url);

/* Does the name of the address decide on two pages?  Where it does not, pd_subject_set_url need not be called. */
static inline bool pd_subjects_need_names(const struct pd_subject *a, const struct pd_subject *b)
{
	return a->heading && b->heading && a->heading != b->heading && a->heading != b->title && a->title != b->heading;
}

/* Two headings decide.  A heading and a title can only be the same, two titles alone only differ, because what a title begins
 * with may be the name of the site. */
enum pd_subjects pd_subjects_compare(const struct pd_subject *a, const struct pd_subject *b);

void pd_subject_hex(const struct pd_subject *s, struct pd_buf *out);
/* What is no subject, "-" too, is none. */
static inline struct pd_subject pd_subject_parse(struct pd_span hex)
{
	uint64_t v;
	if (!pd_hex_u64(hex, &v))
		v = 0;
	return (struct pd_subject){ .heading = (uint32_t)(v >> 32), .title = (uint32_t)v };
}

#endif
