/* SPDX-License-Identifier: MIT
 *
 * Dumps in, how rare each word of their main texts is out: the file that --idf reads (term/wordfiles.h).  It holds every word once:
 * memory grows with the vocabulary.
 */
#ifndef PD_WALK_IDF_H
#define PD_WALK_IDF_H

#include "walk/walk.h"

/* As pd_walk. */
int pd_walk_idf(const struct pd_walk_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_err *e);

/* On how many pages each word stands. */
struct pd_idf_counter;

struct pd_idf_counter *pd_idf_counter_new(void);
void pd_idf_counter_free(struct pd_idf_counter *c);
/* One page: its terms with one space between, repeats too.  A page without terms is none. */
void pd_idf_counter_page(struct pd_idf_counter *c, struct pd_span terms);
uint64_t pd_idf_counter_pages(const struct pd_idf_counter *c);
/* Lines "word idf" in bytewise order, idf = ln((pages + 1) / pages with the word), which is never 0; how many. */
size_t pd_idf_counter_print(const struct pd_idf_counter *c, struct pd_buf *out);

#endif
