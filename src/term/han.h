/* SPDX-License-Identifier: MIT
 *
 * Cuts a run of Han characters into words by the dictionary.  Maximum probability: of all ways to cut the run into
 * words of the dictionary and single characters, the one with the highest product of their frequencies (a unigram
 * model); a character that is no word counts as a word of frequency 1; of ways that are equally probable, that whose
 * last word is longest.  Forward: from the left, always the longest word.
 */
#ifndef PD_TERM_HAN_H
#define PD_TERM_HAN_H

#include "base/span.h"

/* Longer runs come in pieces: memory stays bounded. */
#define PD_HAN_RUN_MAX 65536	/* characters */

struct pd_dict;
struct pd_han;	/* scratch for one thread */

/* `dict` NULL: every character is a word. */
struct pd_han *pd_han_new(const struct pd_dict *dict, bool forward);
void pd_han_free(struct pd_han *h);
/* `run` is valid UTF-8 of at most PD_HAN_RUN_MAX characters.  Returns the number of words; (*ends)[i] is the byte after
 * the word i, valid until the next call. */
size_t pd_han_cut(struct pd_han *h, struct pd_span run, const uint32_t **ends);

#endif
