/* SPDX-License-Identifier: MIT
 *
 * Lists of words that a user may give as files: stop words, words in addition to the dictionary, synonyms, inverse
 * document frequencies.  A list is made from a path and is read-only afterwards.  An entry is a line in UTF-8.
 */
#ifndef PD_TERM_WORDFILES_H
#define PD_TERM_WORDFILES_H

#include "base/buf.h"
#include "base/err.h"

/* ==== stop words ====
 *
 * Words that carry no topic, one per line in UTF-8; `#` begins a comment.  The built-in list is dict/stopwords.txt
 * (Chinese and English function words), compiled into the binary; a file replaces it. */

struct pd_stopwords;

int pd_stopwords_builtin(struct pd_stopwords **out, struct pd_err *e);
void pd_stopwords_free(struct pd_stopwords *s);
/* Return whether a folded term with this hash (pd_hash64) is a stop word. */
bool pd_stopwords_has(const struct pd_stopwords *s, uint64_t hash);
size_t pd_stopwords_count(const struct pd_stopwords *s);
/* Return 8 hex digits over the folded, sorted words.  Fingerprints record them. */
const char *pd_stopwords_checksum(const struct pd_stopwords *s);

/* ==== words of the user ====
 *
 * Words that a user adds to the dictionary, mainly names, which no dictionary has.  A file contains lines "word", "word
 * tag" or "word frequency tag", as jieba's user dictionaries do.  The tag is the part of speech ("nr", a person); the
 * default is a proper noun ("nz").  A frequency is ignored: from the beginning of a run of Chinese characters on, the
 * user's words take precedence over words of the dictionary, the longest first.  Words must consist of Chinese
 * characters; words of other scripts are terms already. */

struct pd_userwords;

/* Return the length in bytes of the longest word at a position of a run of simplified Chinese characters, or 0. */
size_t pd_userwords_at(const struct pd_userwords *u, struct pd_span run, size_t at);
/* Return its part of speech, NUL-padded, or NULL if it is not a word of the user. */
const char *pd_userwords_tag(const struct pd_userwords *u, struct pd_span word);

/* ==== synonyms ====
 *
 * Words with the same meaning (a chapter on semantic fingerprints: "Web Crawlers: Techniques, Principles and
 * Practice").  In a text, each is replaced by its base word before segmentation.  Replacement proceeds from the start;
 * at each position the longest matching word is replaced, and the replacement is not searched again.
 *
 * A file contains one sense per line: the base word first, then the words that it replaces, separated by white space:
 *
 *	华联商厦 北京华联 华联超市
 *
 * Words are converted to the form of terms (folded, simplified characters), and the text must be in that form.  An
 * error names the line: an empty line, a base word that replaces nothing, a word that two lines replace, a base word
 * that another line replaces (including cycles). */

struct pd_synonyms;

/* Write the text with its words replaced to `out`; its content is replaced. */
void pd_synonyms_replace(const struct pd_synonyms *s, struct pd_span text, struct pd_buf *out);

/* ==== inverse document frequency ====
 *
 * The inverse document frequency of a term, a measure of its rarity (K. Sparck Jones, Journal of Documentation 28,
 * 1972), from a file or from a dictionary.  A word without a value, such as every Latin word in the compiled table,
 * gets the median of the known values (the smaller middle value if their number is even).
 *
 * A file contains lines "word idf" in UTF-8, as `pagededup dict --idf-from` writes them.  Words are converted to terms
 * (folded, simplified characters).  If a term then occurs twice, the smaller value is used (more pages have it). */

struct pd_dict;
struct pd_idf;

/* A value must be over 0, because a word with 0 would have no weight however frequent it is, and under this. */
#define PD_IDF_MAX 1000.0

/* Return the value of a term; `hash` is its pd_hash64. */
double pd_idf_get(const struct pd_idf *idf, struct pd_span term, uint64_t hash);

/* ==== all lists of a run ==== */

/* Lists that a run reads; NULL: not requested. */
struct pd_wordlists_options {
	const char *userwords, *synonyms, *idf; /* files */
	const char *stopwords;			/* "none", "builtin", or a file */
	const struct pd_dict *idf_dict;		/* if there is no file: use the dictionary's values */
};

struct pd_wordlists {
	struct pd_userwords *userwords;
	struct pd_stopwords *stopwords;
	struct pd_synonyms *synonyms;
	struct pd_idf *idf;
	/* checksums of the lists that were loaded; valid as long as the lists */
	const char *userwords_checksum, *synonyms_checksum, *idf_checksum;
};

/* Load the requested lists, in addition to lists that are loaded already. */
int pd_wordlists_load(struct pd_wordlists *w, const struct pd_wordlists_options *o, struct pd_err *e);
void pd_wordlists_release(struct pd_wordlists *w);

#endif
