/* SPDX-License-Identifier: MIT
 *
 * The dictionary: a checked container (magic, version, length, XXH3-128) around a minimal perfect hash (cmph) and the
 * words with frequency, part of speech and idf.  Nothing reaches cmph before the checksum holds, because cmph trusts its
 * input; a perfect hash answers for unknown words too, so the stored word is compared on every hit.
 * docs/format-dict.md specifies the bytes.
 */
#ifndef PD_TERM_DICT_H
#define PD_TERM_DICT_H

#include "base/buf.h"
#include "base/err.h"

struct pd_dict;

struct pd_dict_word {
	struct pd_span text;		/* UTF-8 */
	uint32_t frequency;
	float log_probability;		/* ln(frequency / total) */
	float idf;			/* 0 when unknown */
	char pos[4];			/* part of speech, NUL-padded: "ns", "nr", … */
};

/* The dictionary that lies in the binary. */
int pd_dict_builtin(struct pd_dict **out, struct pd_err *e);
/* One from a file that `pagededup`'s dictionary compiler wrote. */
int pd_dict_load(const char *path, struct pd_dict **out, struct pd_err *e);
/* From memory that outlives the dictionary: for both of the above, and for the fuzzer. */
int pd_dict_open(struct pd_span bytes, struct pd_dict **out, struct pd_err *e);
void pd_dict_free(struct pd_dict *d);

/* False when it is no word. */
bool pd_dict_find(const struct pd_dict *d, struct pd_span word, struct pd_dict_word *out);
/* What the word costs a segmentation, in units of dict_layout.h; UINT32_MAX when it is no word. */
uint32_t pd_dict_cost(const struct pd_dict *d, struct pd_span word);
size_t pd_dict_words(const struct pd_dict *d);
/* The median of the words' idf, of those that have one; of an even number the smaller of the two in the middle.  1: none has. */
float pd_dict_median_idf(const struct pd_dict *d);
/* 16 hex digits, a hash of its sorted words with all that is said of them: fingerprints record it. */
const char *pd_dict_id(const struct pd_dict *d);

/* Compiles `word frequency pos` lines and `word idf` lines into a container.  Words that stand twice keep the most
 * frequent line; lines that cannot be read are an error that names the line. */
int pd_dict_compile(const char *words_path, const char *idf_path, struct pd_buf *out, struct pd_err *e);

#endif
