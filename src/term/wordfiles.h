/* SPDX-License-Identifier: MIT
 *
 * Lists of words that a user may give, each a file: words without a topic, words beside the dictionary's, words that mean the
 * same, how rare words are.  In: a path.  Out: what the words are asked for, read only once made.  An entry is a line, in UTF-8.
 */
#ifndef PD_TERM_WORDFILES_H
#define PD_TERM_WORDFILES_H

#include "base/buf.h"
#include "base/err.h"

/* ==== stop words ====
 *
 * Words that carry no topic: one a line in UTF-8, `#` begins a comment.  The built-in list is dict/stopwords.txt (Chinese
 * and English function words), compiled into the binary; a file replaces it. */

struct pd_stopwords;

int pd_stopwords_builtin(struct pd_stopwords **out, struct pd_err *e);
int pd_stopwords_load(const char *path, struct pd_stopwords **out, struct pd_err *e);
void pd_stopwords_free(struct pd_stopwords *s);
/* Is a folded term with this hash (pd_hash64) a stop word? */
bool pd_stopwords_has(const struct pd_stopwords *s, uint64_t hash);
size_t pd_stopwords_count(const struct pd_stopwords *s);
/* 8 hex digits over the folded, sorted words: fingerprints record it. */
const char *pd_stopwords_checksum(const struct pd_stopwords *s);

/* ==== words of the user's ====
 *
 * Words that a user adds to the dictionary: names above all, which no dictionary has.  A file holds lines "word", "word tag" or
 * "word frequency tag", as jieba's user dictionaries do; the tag is the part of speech ("nr", a person), a proper noun ("nz")
 * where none is given.  A frequency is read over: a user's words come before those of the dictionary, from the beginning of
 * a run of Chinese characters on, the longest first.  Words are of Chinese characters alone; words of other scripts are
 * terms as they stand. */

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

/* ==== synonyms ====
 *
 * Words that mean the same (a chapter on semantic fingerprints: "Web Crawlers: Techniques, Principles and Practice"): in a text
 * each is replaced by one of them, before it is cut into terms.  From the beginning on the longest word that fits is replaced,
 * and what was put in its place is not read again.
 *
 * A file holds one sense a line: the base word first, then the words that it replaces, with white space between:
 *
 *	华联商厦 北京华联 华联超市
 *
 * Words are taken in the form of terms (folded, simplified characters), and the text has to be in that form.  What cannot be meant
 * is an error that names the line: an empty line, a base word that replaces nothing, a word that two lines replace, a base
 * word that another line replaces (of which a cycle is one case). */

struct pd_synonyms;

int pd_synonyms_load(const char *path, struct pd_synonyms **out, struct pd_err *e);
void pd_synonyms_free(struct pd_synonyms *s);
/* The text with its words replaced, in place of what `out` held. */
void pd_synonyms_replace(const struct pd_synonyms *s, struct pd_span text, struct pd_buf *out);
/* Words that are replaced. */
size_t pd_synonyms_words(const struct pd_synonyms *s);
/* 8 hex digits over what replaces what, in any order of the lines. */
const char *pd_synonyms_checksum(const struct pd_synonyms *s);

/* ==== how rare words are ====
 *
 * How rare words are: the inverse document frequency (K. Sparck Jones, Journal of Documentation 28, 1972) of a term, from a file or
 * from a dictionary.  A word that has none there, as every Latin word in the compiled table, has the median of those that have one
 * (of an even number the smaller of the two in the middle).
 *
 * A file holds lines "word idf" in UTF-8, as `pagededup dict --idf-from` writes them.  Words are taken as terms are (folded,
 * simplified characters); of a word that then stands twice the smaller value counts, that of more pages. */

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

/* ==== all of a run ==== */

/* What a run reads: each NULL where it is not asked for. */
struct pd_wordlists_options {
	const char *userwords, *synonyms, *idf;		/* files */
	const char *stopwords;				/* "none", "builtin", or a file */
	const struct pd_dict *idf_dict;			/* without a file: the dictionary's values */
};

struct pd_wordlists {
	struct pd_userwords *userwords;
	struct pd_stopwords *stopwords;
	struct pd_synonyms *synonyms;
	struct pd_idf *idf;
	/* of those that are there; they live as long as the lists */
	const char *userwords_checksum, *synonyms_checksum, *idf_checksum;
};

/* Adds what is asked for to what is there already. */
int pd_wordlists_load(struct pd_wordlists *w, const struct pd_wordlists_options *o, struct pd_err *e);
void pd_wordlists_release(struct pd_wordlists *w);

/* ==== lines ==== */

/* What reads a file of these (but for stop words): lines without their ends, without a byte order mark, with their numbers for
 * messages.  A line that is not UTF-8 is an error, because the words in it would never be found. */
struct pd_wordfile {
	const char *path;
	size_t number;		/* of the line, from 1 */
};

/* Calls `take` for each line, white space at its ends taken off, until it fails. */
int pd_wordfile_read(const char *path, int (*take)(void *ctx, const struct pd_wordfile *f, struct pd_span line, struct pd_err *e),
		     void *ctx, struct pd_err *e);
/* The next word of a line, which is taken off it; white space parts words, that of U+3000 too.  False: there is none. */
bool pd_wordfile_word(struct pd_span *line, struct pd_span *word);

#endif
