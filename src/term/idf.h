/* SPDX-License-Identifier: MIT
 *
 * How rare words are: the inverse document frequency (K. Sparck Jones, Journal of Documentation 28, 1972) of a term, from a file or
 * from a dictionary.  A word that has none there, as every Latin word in the compiled table, has the median of those that have one
 * (of an even number the smaller of the two in the middle).
 *
 * A file holds lines "word idf" in UTF-8, as `pagededup dict --idf-from` writes them.  Words are taken as terms are (folded,
 * simplified characters); of a word that then stands twice the smaller value counts, that of more pages.
 */
#ifndef PD_TERM_IDF_H
#define PD_TERM_IDF_H

#include "base/buf.h"
#include "base/err.h"

struct pd_dict;
struct pd_idf;

/* What a value may be: over 0, because a word of none would weigh nothing however often it stands; under this. */
#define PD_IDF_MAX 1000.0

/* PD_ERR_DICT names the line. */
int pd_idf_load(const char *path, struct pd_idf **out, struct pd_err *e);
/* Those of the dictionary, which must outlive it. */
struct pd_idf *pd_idf_of_dict(const struct pd_dict *d);
void pd_idf_free(struct pd_idf *idf);
/* Of a term; `hash` is its pd_hash64. */
double pd_idf_get(const struct pd_idf *idf, struct pd_span term, uint64_t hash);
double pd_idf_median(const struct pd_idf *idf);
size_t pd_idf_words(const struct pd_idf *idf);
/* 8 hex digits over the words and their values, for the headers of what was made with them; "dict": the dictionary's. */
const char *pd_idf_checksum(const struct pd_idf *idf);

/* --- making such a file --- */

/* Counts on how many pages each word stands.  It holds every word once: memory grows with the vocabulary. */
struct pd_idf_counter;

struct pd_idf_counter *pd_idf_counter_new(void);
void pd_idf_counter_free(struct pd_idf_counter *c);
/* One page: its terms with one space between, repeats too.  A page without terms is none. */
void pd_idf_counter_page(struct pd_idf_counter *c, struct pd_span terms);
uint64_t pd_idf_counter_pages(const struct pd_idf_counter *c);
/* Lines "word idf" in bytewise order, idf = ln((pages + 1) / pages with the word), which is never 0; how many. */
size_t pd_idf_counter_print(const struct pd_idf_counter *c, struct pd_buf *out);

#endif
