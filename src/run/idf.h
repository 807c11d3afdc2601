/* SPDX-License-Identifier: MIT
 *
 * Dumps -> the inverse document frequency of each word of their main texts: the file that --idf reads
 * (term/wordfiles.h).  Each word is stored once, so memory grows with the vocabulary.
 */
#ifndef PD_WALK_IDF_H
#define PD_WALK_IDF_H

#include "run/walk.h"

/* Returns as pd_walk. */
int pd_walk_idf(const struct pd_walk_options *o, char **inputs, int n_inputs, struct pd_log *log, struct pd_err *e);

#endif
