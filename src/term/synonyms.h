/* SPDX-License-Identifier: MIT
 *
 * Words that mean the same (a chapter on semantic fingerprints: "Web Crawlers: Techniques, Principles and Practice"): in a text
 * each is replaced by one of them, before it is cut into terms.  From the beginning on the longest word that fits is replaced,
 * and what was put in its place is not looked at again.
 *
 * A file holds one sense a line: the base word first, then the words that it replaces, with white space between:
 *
 *	华联商厦 北京华联 华联超市
 *
 * Words are taken in the form of terms (folded, simplified characters), and the text has to be in that form.  What cannot be meant
 * is an error that names the line: an empty line, a base word that replaces nothing, a word that two lines replace, a base
 * word that another line replaces (of which a cycle is one case).
 */
#ifndef PD_TERM_SYNONYMS_H
#define PD_TERM_SYNONYMS_H

#include "base/buf.h"
#include "base/err.h"

struct pd_synonyms;

int pd_synonyms_load(const char *path, struct pd_synonyms **out, struct pd_err *e);
void pd_synonyms_free(struct pd_synonyms *s);
/* The text with its words replaced, in place of what `out` held. */
void pd_synonyms_replace(const struct pd_synonyms *s, struct pd_span text, struct pd_buf *out);
/* Words that are replaced. */
size_t pd_synonyms_words(const struct pd_synonyms *s);
/* 8 hex digits over what replaces what, in any order of the lines. */
const char *pd_synonyms_checksum(const struct pd_synonyms *s);

#endif
