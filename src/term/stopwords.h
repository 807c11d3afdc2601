/* SPDX-License-Identifier: MIT
 *
 * Words that carry no topic: one a line in UTF-8, `#` begins a comment.  The built-in list is dict/stopwords.txt (Chinese
 * and English function words), compiled into the binary; a file replaces it.
 */
#ifndef PD_TERM_STOPWORDS_H
#define PD_TERM_STOPWORDS_H

#include "base/buf.h"
#include "base/err.h"

struct pd_stopwords;

int pd_stopwords_builtin(struct pd_stopwords **out, struct pd_err *e);
int pd_stopwords_load(const char *path, struct pd_stopwords **out, struct pd_err *e);
void pd_stopwords_free(struct pd_stopwords *s);
/* Is a folded term with this hash (pd_hash64) a stop word? */
bool pd_stopwords_has(const struct pd_stopwords *s, uint64_t hash);
size_t pd_stopwords_count(const struct pd_stopwords *s);
/* 8 hex digits over the folded, sorted words: fingerprints record it. */
const char *pd_stopwords_checksum(const struct pd_stopwords *s);

#endif
