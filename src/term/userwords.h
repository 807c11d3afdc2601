/* SPDX-License-Identifier: MIT
 *
 * Words that a user adds to the dictionary: names above all, which no dictionary has.  A file holds lines "word", "word tag" or
 * "word frequency tag", as jieba's user dictionaries do; the tag is the part of speech ("nr", a person), a proper noun ("nz")
 * where none is given.  A frequency is read over: a user's words come before those of the dictionary, from the beginning of
 * a run of Chinese characters on, the longest first.  Words are of Chinese characters alone; words of other scripts are
 * terms as they stand.
 */
#ifndef PD_TERM_USERWORDS_H
#define PD_TERM_USERWORDS_H

#include "base/buf.h"
#include "base/err.h"

struct pd_userwords;

int pd_userwords_load(const char *path, struct pd_userwords **out, struct pd_err *e);
void pd_userwords_free(struct pd_userwords *u);
/* Bytes of the longest word at a place of a run of Chinese characters, simplified; 0: none begins there. */
size_t pd_userwords_at(const struct pd_userwords *u, struct pd_span run, size_t at);
/* Its part of speech, NUL-padded, or NULL: it is no word of the user's. */
const char *pd_userwords_tag(const struct pd_userwords *u, struct pd_span word);
size_t pd_userwords_count(const struct pd_userwords *u);
/* 8 hex digits over words and tags, in any order of the lines: fingerprints record it. */
const char *pd_userwords_checksum(const struct pd_userwords *u);

#endif
