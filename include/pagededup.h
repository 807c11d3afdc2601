/* SPDX-License-Identifier: MIT
 *
 * pagededup as a library: pages in, fingerprints, pairs of near-duplicates, clusters and what is kept between runs out.
 *
 *	pagededup_model *model;		settings and dictionaries: made once, shared by all threads
 *	pagededup_worker *worker;	one for each thread: signs one page after the other
 *	pagededup_page page = { sizeof page };
 *	pagededup_input input = { sizeof input, html, html_bytes, "text/html; charset=gbk" };
 *	if (pagededup_model_open(&model, NULL, NULL) == PAGEDEDUP_OK && pagededup_worker_new(&worker, model, NULL) == PAGEDEDUP_OK &&
 *	    pagededup_sign(worker, &input, &page, NULL) == PAGEDEDUP_OK && page.bits)
 *		...
 *
 * Results are those of the command: pagededup_sign gives what `pagededup fp` writes for the same bytes and settings, the pairs of
 * pagededup_match are those of `match`, the verdicts of pagededup_cluster those of `cluster`.  docs/library.md has whole examples.
 *
 * RULES THAT HOLD EVERYWHERE
 *
 * Status   A function that can fail returns a pagededup_status: 0 done, positive: done, and something is to be known, negative:
 *          not done.  Where it takes a `pagededup_error *` (NULL: nobody asks) the words for people are left there.
 * Memory   A call that gets no memory returns PAGEDEDUP_ERR_MEMORY, and gives back what it had asked for.  A handle that it was
 *          about is then good for its _free (or _close) alone, which gives back the rest; all other handles are as before.
 *          (Two libraries below cannot say that they got none: uchardet, in which a want of memory ends the process, and a
 *          want within libxml2's start, at the first worker of the process.)
 * Process  No function ends the process, writes to its standard streams, or sets a signal handler.  Temporary files have
 *          no name, and lie in TMPDIR, else /tmp.
 * Threads  A model may be used by any number of threads at a time.  Every other handle belongs to one thread at a time; it may
 *          wander between threads.  Different handles never wait for each other.  Functions without a handle are free of state.
 * Fork     After fork() the child may use models, and make handles of its own from them.
 * Callers' structs begin with their size: set `size` to sizeof, and all that is not used to 0.  Members are only ever added at the
 *          end, so that a program keeps working with a newer library.
 * Strings  UTF-8 with a 0 at the end, unless a length stands beside them.  What a function hands out belongs to the handle that it
 *          came from, and dies at the time that is named there.
 * Callbacks must return: neither longjmp nor exceptions may pass through the library.
 *
 * "Experimental" functions may change or go in any version.  The others keep their meaning and their form as long as
 * PAGEDEDUP_VERSION_MAJOR and, while that is 0, PAGEDEDUP_VERSION_MINOR stay.
 */
#ifndef PAGEDEDUP_H
#define PAGEDEDUP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PAGEDEDUP_API __attribute__((visibility("default")))
#else
#define PAGEDEDUP_API
#endif

/* --- versions, stable --- */

#define PAGEDEDUP_VERSION_MAJOR 0
#define PAGEDEDUP_VERSION_MINOR 2
#define PAGEDEDUP_VERSION_RELEASE 0
#define PAGEDEDUP_VERSION_NUMBER (PAGEDEDUP_VERSION_MAJOR * 10000 + PAGEDEDUP_VERSION_MINOR * 100 + PAGEDEDUP_VERSION_RELEASE)

/* Of the library that runs, which may be newer than the header: as "0.2.0", and as PAGEDEDUP_VERSION_NUMBER. */
PAGEDEDUP_API const char *pagededup_version(void);
PAGEDEDUP_API unsigned pagededup_version_number(void);

/* --- status, stable --- */

typedef enum pagededup_status {
	PAGEDEDUP_OK = 0,
	PAGEDEDUP_NO_PAGE = 1,			/* of one input: it is no page (empty, another type, another HTTP status, ...) */
	PAGEDEDUP_MORE = 1,			/* of readers: here is one; 0 then is the end */
	PAGEDEDUP_ERR_SYSTEM = -1,		/* a system call failed: a file that cannot be read, a full disk */
	PAGEDEDUP_ERR_STOPPED = -2,		/* the caller asked to stop */
	PAGEDEDUP_ERR_LIMIT = -3,		/* more than can be counted, such as over 2^31 pages */
	PAGEDEDUP_ERR_USAGE = -4,		/* asked for something that cannot be, such as an unknown setting */
	PAGEDEDUP_ERR_MEMORY = -5,		/* out of memory: see above */
	PAGEDEDUP_ERR_INPUT = -100,		/* damaged input */
	PAGEDEDUP_ERR_TRUNCATED = -101,		/* input that ends in the middle */
	PAGEDEDUP_ERR_NOT_FOUND = -102,		/* no such page */
	PAGEDEDUP_ERR_CHARSET = -103,		/* a charset that is not known */
	PAGEDEDUP_ERR_DICTIONARY = -200,	/* not a dictionary, or a damaged one */
	PAGEDEDUP_ERR_FORMAT = -300,		/* not in the form that is expected */
	PAGEDEDUP_ERR_VERSION = -301,		/* made by a newer version: a file, or a struct with members that are not known */
	PAGEDEDUP_ERR_PARAMETERS = -302		/* made with other settings, and not to be compared */
} pagededup_status;

/* What a status means in a few words; never NULL, also of a status that does not exist. */
PAGEDEDUP_API const char *pagededup_strerror(int status);

typedef struct pagededup_error {
	size_t size;
	int status;
	char text[512];		/* what failed, where, and what to do; "" when nothing did */
} pagededup_error;

/* --- a model, stable ---
 *
 * Settings, the dictionary, stop words, what sites repeat: all that decides what a page becomes.  It never changes. */

typedef struct pagededup_model pagededup_model;

typedef struct pagededup_model_options {
	size_t size;
	/* "preset=paper shingle=3 bits=128": keys preset, topic, hidden, stubs, segment, bits, shingle, weights, hash, features, sketch,
	 * min_terms, max_page, with the values that `pagededup info` prints.  NULL: the defaults. */
	const char *settings;
	const char *dictionary;		/* file of `pagededup dict`; NULL: the built-in one */
	const char *user_words;		/* file of words beside the dictionary's; NULL: none */
	const char *stop_words;		/* "none", "builtin", or a file; NULL: as the preset has it */
	const char *boilerplate;	/* file of `pagededup boilerplate` or pagededup_learner_end; NULL: none */
	const char *methods;		/* methods beside or in place of the fingerprint, as `fp --method` takes them; NULL: none */
} pagededup_model_options;

/* `options` NULL: the defaults.  Files are read now and not needed later.  ERR_USAGE: a setting that does not exist or cannot be;
 * ERR_SYSTEM, _DICTIONARY, _FORMAT, _PARAMETERS: of a file.  On failure *out is NULL. */
PAGEDEDUP_API int pagededup_model_open(pagededup_model **out, const pagededup_model_options *options, pagededup_error *error);
/* One owner more, and `model` itself; and one fewer: the last one frees it.  Workers, readers, tables and learners are owners.  NULL is let be.
 * Both may be called by any thread. */
PAGEDEDUP_API pagededup_model *pagededup_model_ref(pagededup_model *model);
PAGEDEDUP_API void pagededup_model_free(pagededup_model *model);
/* 8 hex digits: fingerprints of models with the same digits can be compared.  Lives as long as the model. */
PAGEDEDUP_API const char *pagededup_model_params(const pagededup_model *model);
/* The two header lines, each with its newline, that `fp` writes before rows of such pages.  Lives as long as the model. */
PAGEDEDUP_API const char *pagededup_model_header(const pagededup_model *model);
/* Bits of a fingerprint: 64, 128, 256. */
PAGEDEDUP_API int pagededup_model_bits(const pagededup_model *model);

/* --- signing, stable --- */

typedef struct pagededup_worker pagededup_worker;

typedef struct pagededup_input {
	size_t size;
	const void *body;		/* HTML in any charset, or plain text; without HTTP */
	size_t bytes;
	const char *content_type;	/* as HTTP sent it; NULL: the bytes decide */
	const char *url;		/* NULL: not known.  It decides what the page's site repeats and whose the page is */
	const char *id;			/* one address for one page, handed through; NULL: none */
	const char *fetch_time;		/* RFC 3339, handed through; NULL: not known */
	int is_text;			/* not 0: `body` is plain text in UTF-8 */
} pagededup_input;

/* All that it points to belongs to the worker, and dies at its next call. */
typedef struct pagededup_page {
	size_t size;
	int bits;			/* 64, 128, 256; 0: too little text for a fingerprint, or a page that is to match nothing */
	uint64_t fingerprint[4];	/* bits / 64 words, the first hex digits in word 0 */
	int sketch_words;		/* 0: no text, or no sketch is asked for */
	uint64_t sketch[8];		/* for pagededup_similarity */
	uint64_t terms;			/* kept terms that were signed */
	double confidence;		/* in the main text: 0 to 1 */
	const char *id, *url, *fetch_time;	/* as given; "" when not known */
	const char *text;		/* main text, UTF-8; pagededup_worker_visible_text has the rest */
	size_t text_bytes;
	const char *title;		/* "" when there is none */
	const char *text_digest;	/* 32 hex digits of the main text (else of all visible text), folded; "" when there is none */
	const char *content_digest;	/* SHA-1 of the payload in base32, or the record's own */
	const char *charset;		/* WHATWG name in lower case */
	const char *languages;		/* as the page says, or as its script tells: "en"; "" when not known */
	const char *flags;		/* "charset-meta,cut": how the charset was found, what is doubtful (docs/format-rows.md) */
} pagededup_page;

/* For pages of one thread.  ERR_USAGE: settings that do not go together.  On failure *out is NULL. */
PAGEDEDUP_API int pagededup_worker_new(pagededup_worker **out, pagededup_model *model, pagededup_error *error);
PAGEDEDUP_API void pagededup_worker_free(pagededup_worker *worker);
/* A page's bytes -> what it becomes.  PAGEDEDUP_OK; PAGEDEDUP_NO_PAGE, and *page is empty (why: `error->text`). */
PAGEDEDUP_API int pagededup_sign(pagededup_worker *worker, const pagededup_input *input, pagededup_page *page, pagededup_error *error);
/* Of the page signed last: the row that `fp` writes (with its newline, without a header), the JSON object that `text` writes
 * (id, url, title, timestamp, text, keywords, description, anchor_text; null where there is nothing), and all text that a visitor
 * sees, title, menus and footers too, in UTF-8, with a newline where a box ends.  Each dies at the worker's next call.  ERR_USAGE:
 * the last input was no page. */
PAGEDEDUP_API int pagededup_worker_row(pagededup_worker *worker, const char **text, size_t *bytes);
PAGEDEDUP_API int pagededup_worker_record(pagededup_worker *worker, const char **json, size_t *bytes);
PAGEDEDUP_API int pagededup_worker_visible_text(pagededup_worker *worker, const char **text, size_t *bytes);

/* --- two pages, stable --- */

/* Bits in which two fingerprints of `bits` bits differ; -1: `bits` is not 64, 128 or 256. */
PAGEDEDUP_API int pagededup_distance(const uint64_t *a, const uint64_t *b, int bits);
/* Estimated Jaccard similarity of the texts of two pages of this model, 0 to 1; -1: one has no sketch. */
PAGEDEDUP_API double pagededup_similarity(const pagededup_model *model, const pagededup_page *a, const pagededup_page *b);
/* Block keys, for a join in somebody else's engine: two fingerprints of `bits` bits within `distance` bits of each other have at
 * least one key in common.  Writes the keys into `keys` (distance + 1 of them; NULL: none) and returns how many there are; -1: no
 * such width, or a distance over a quarter of it.  Pairs that share a key are then held against each other by
 * pagededup_distance. */
PAGEDEDUP_API int pagededup_block_keys(const uint64_t *fingerprint, int bits, int distance, uint64_t *keys);

/* --- reading dumps, stable ---
 *
 * Records of WARC, ARC, WET, JSONL, tar, folders and HTML files, packed or not, as the command reads them. */

typedef struct pagededup_reader pagededup_reader;

typedef struct pagededup_reader_options {
	size_t size;
	const char *const *paths;	/* files and folders */
	size_t n_paths;
	/* What is damaged and left out: "crawl.warc.gz:1234", "damaged gzip member".  Reading goes on.  NULL: nobody asks. */
	void (*damage)(void *context, const char *where, const char *what);
	void *context;
	int all_text;			/* not 0: in folders and tar, text files are read as well as HTML */
} pagededup_reader_options;

/* A record as it lies in the dump; it dies at the reader's next call. */
typedef struct pagededup_record {
	size_t size;
	const char *id;			/* the address that the command prints for it: "crawl.warc.gz:1234" */
	const char *url, *fetch_time, *content_type, *user_id;	/* "" when not known */
	const void *block;		/* of an HTTP response its headers, too */
	size_t bytes;
	int is_page;			/* 0: a kind that is none, such as a request or a crawler's own note */
} pagededup_record;

/* Inputs are opened one after the other.  The model says how large a page may be. */
PAGEDEDUP_API int pagededup_reader_open(pagededup_reader **out, pagededup_model *model, const pagededup_reader_options *options,
					 pagededup_error *error);
/* PAGEDEDUP_MORE and a record (`record` may be NULL), PAGEDEDUP_OK at the end, or an error after which nothing comes: an input that
 * cannot be opened or read. */
PAGEDEDUP_API int pagededup_reader_next(pagededup_reader *reader, pagededup_record *record, pagededup_error *error);
/* Signs the reader's record, as pagededup_sign does: with its address, URL, time and digests.  A thread must not have the reader
 * meanwhile. */
PAGEDEDUP_API int pagededup_sign_record(pagededup_worker *worker, const pagededup_reader *reader, pagededup_page *page,
					 pagededup_error *error);
PAGEDEDUP_API void pagededup_reader_free(pagededup_reader *reader);

/* --- tables, stable ---
 *
 * Many rows as columns, laid out as Apache Arrow does: pages (the columns of `fp`), pairs, verdicts, answers.  A table's columns can
 * be handed to Arrow without a copy, and Arrow's columns can be handed in. */

typedef struct pagededup_table pagededup_table;

typedef enum pagededup_type {
	PAGEDEDUP_UINT64 = 1,	/* uint64_t each */
	PAGEDEDUP_FLOAT64 = 2,	/* double each */
	PAGEDEDUP_TEXT = 3,	/* UTF-8; value i is data[offsets[i]] up to data[offsets[i + 1]]: Arrow's large_utf8 */
	PAGEDEDUP_BYTES = 4	/* `width` bytes each: Arrow's fixed_size_binary */
} pagededup_type;

typedef struct pagededup_column {
	size_t size;
	const char *name;
	int type;			/* a pagededup_type */
	int width;			/* of BYTES */
	const void *data;
	const int64_t *offsets;		/* of TEXT: rows + 1 of them; else NULL */
	const uint8_t *valid;		/* bit i % 8 of byte i / 8: row i has a value; NULL: all have */
	uint64_t nulls;			/* rows without a value */
	uint64_t data_bytes;
} pagededup_column;

/* What columns of pages stand beside those of `fp`. */
#define PAGEDEDUP_WITH_TITLE 1u
#define PAGEDEDUP_WITH_MAIN_TEXT 2u	/* column "text" */
#define PAGEDEDUP_WITH_VISIBLE_TEXT 4u	/* column "visible_text": as pagededup_worker_visible_text */

/* An empty table for pages of a model. */
PAGEDEDUP_API int pagededup_table_new(pagededup_table **out, pagededup_model *model, unsigned with, pagededup_error *error);
/* Pages that come as columns, by their names as `fp` has them; the values are copied.  `header`: what pagededup_table_header gave for the table that
 * they come from, or NULL: pages of the default settings.  A column "fingerprint" of UINT64 or BYTES must be there; without a column
 * "id" a row has the address of its number.  Columns of other names are left out.  ERR_FORMAT: a column of another type. */
PAGEDEDUP_API int pagededup_table_import(pagededup_table **out, const char *header, const pagededup_column *columns, size_t n_columns,
					  uint64_t rows, pagededup_error *error);
PAGEDEDUP_API void pagededup_table_free(pagededup_table *table);
/* The worker's last page as one row more. */
PAGEDEDUP_API int pagededup_table_add(pagededup_table *table, pagededup_worker *worker, pagededup_error *error);
/* `n` pages as `n` rows more, in their order, by `threads` threads (0: all cores).  What is no page becomes a row whose
 * columns are null but for id, url and fetch_time, with the flag "no-page". */
PAGEDEDUP_API int pagededup_table_sign(pagededup_table *table, const pagededup_input *inputs, size_t n, int threads, pagededup_error *error);
/* Up to `most` pages of a dump (0: all) as rows more, in their order, by `threads` threads.  PAGEDEDUP_MORE: there may be more;
 * PAGEDEDUP_OK: the dump is at its end. */
PAGEDEDUP_API int pagededup_table_read(pagededup_table *table, pagededup_reader *reader, uint64_t most, int threads, pagededup_error *error);
PAGEDEDUP_API uint64_t pagededup_table_rows(const pagededup_table *table);
PAGEDEDUP_API size_t pagededup_table_columns(const pagededup_table *table);
/* Column i, or the one of a name; it dies when the table changes or is freed.  ERR_NOT_FOUND: there is none. */
PAGEDEDUP_API int pagededup_table_column(const pagededup_table *table, size_t i, pagededup_column *out);
PAGEDEDUP_API int pagededup_table_find(const pagededup_table *table, const char *name, pagededup_column *out);
/* The header lines of its rows as the command writes them: what they were made with; "" where that is not known.  Lives as long
 * as the table. */
PAGEDEDUP_API const char *pagededup_table_header(const pagededup_table *table);
/* All rows as the command writes them, without the header.  Dies when the table changes or is freed.  ERR_USAGE: a table of
 * pairs. */
PAGEDEDUP_API int pagededup_table_text(pagededup_table *table, const char **text, size_t *bytes, pagededup_error *error);

/* --- pairs, stable --- */

typedef struct pagededup_match_options {
	size_t size;
	/* "distance=8 scope=other-hosts jobs=4": the long options of `pagededup match` without their dashes: distance, candidates, band-width,
	 * similar, similarity, similarity-same-host, verify, no-verify, scope, sites, all-pairs, plan, preset, method, jobs, memory, tmp-dir.
	 * NULL: the defaults. */
	const char *settings;
	/* Once it is not 0, set by any thread, the call ends soon with ERR_STOPPED.  NULL: it does not. */
	const int *stop;
	size_t batch;			/* pairs in a batch at most; 0: 65,536 */
} pagededup_match_options;

/* Pairs as a table: columns "a" and "b" (UINT64: rows), "distance" (UINT64; null: the same text), "similarity" (FLOAT64; null: not known), "method"
 * (TEXT) and "suspect" (TEXT; null: it is a pair; else the two look alike, are no pair, and this is why); where several methods
 * signed the pages also "shared" (UINT64), "share_a", "share_b" (FLOAT64) and "linked" (UINT64).  It dies when the function returns,
 * which is called by one thread at a time, not always the caller's.  0: go on; else the call ends with ERR_STOPPED. */
typedef int pagededup_pairs_function(void *context, const pagededup_table *batch);

/* All pairs of near-duplicates among `pages`, in the order of their ids; with `against` (else NULL) all pairs of one of `pages`
 * (a) and one of `against` (b).  ERR_PARAMETERS: pages that were signed with different settings. */
PAGEDEDUP_API int pagededup_match(const pagededup_table *pages, const pagededup_table *against, const pagededup_match_options *options,
				   pagededup_pairs_function *pairs, void *context, pagededup_error *error);
/* The same, all pairs as one table, which the caller frees.  On failure *pairs is NULL. */
PAGEDEDUP_API int pagededup_match_table(pagededup_table **pairs, const pagededup_table *pages, const pagededup_table *against,
					 const pagededup_match_options *options, pagededup_error *error);

/* --- clusters, stable --- */

typedef struct pagededup_cluster_options {
	size_t size;
	/* "keep=newest,longest linkage=star": the long options of `pagededup cluster`: linkage, keep, max-loss, require, exempt, rank,
	 * prefer-host, scope, sites, shingles, action, weight, tmp-dir.  NULL: the defaults. */
	const char *settings;
	const int *stop;		/* as in pagededup_match_options */
	/* pagededup_table_header of the pairs: how they were found decides what counts as one page.  NULL: by the fingerprint, without a
	 * scope. */
	const char *pairs_header;
} pagededup_cluster_options;

/* Clusters of pairs, as pagededup_match gave them (columns a, b, distance, similarity, and, if there, method and suspect), and of each the page to keep: the
 * verdicts of `cluster` as a table, with the columns of its rows, and "row" (UINT64: in `pages`, or in `against` where "side" is
 * 1).  Pages in no cluster are not named.  The caller frees *verdicts. */
PAGEDEDUP_API int pagededup_cluster(const pagededup_table *pages, const pagededup_table *against, const pagededup_column *pairs, size_t n_columns,
				     uint64_t n_pairs, const pagededup_cluster_options *options, pagededup_table **verdicts,
				     pagededup_error *error);

/* --- what sites repeat, stable --- */

typedef struct pagededup_learner pagededup_learner;

/* Learns from pages that workers of this model signed.  On failure *out is NULL. */
PAGEDEDUP_API int pagededup_learner_new(pagededup_learner **out, pagededup_model *model, pagededup_error *error);
/* The page that the worker signed last, which must have a URL; what pagededup_sign handed out dies.  Pages may come in any order.
 * PAGEDEDUP_NO_PAGE: its URL has no host.  ERR_USAGE: the last input was no page, or the learner has decided. */
PAGEDEDUP_API int pagededup_learner_add(pagededup_learner *learner, pagededup_worker *worker, pagededup_error *error);
/* Decides, once, and writes the table to `path`, which is whole or not there: pagededup_model_options.boilerplate takes it.  ERR_SYSTEM:
 * it cannot be written.  Whatever comes, the learner is then good for its _free alone. */
PAGEDEDUP_API int pagededup_learner_end(pagededup_learner *learner, const char *path, pagededup_error *error);
PAGEDEDUP_API void pagededup_learner_free(pagededup_learner *learner);

/* --- the store: what is kept between runs, stable --- */

typedef struct pagededup_store pagededup_store;

typedef enum pagededup_store_mode { PAGEDEDUP_STORE_READ = 0, PAGEDEDUP_STORE_WRITE = 1 } pagededup_store_mode;

/* A new store in the folder `path`, for fingerprints of `bits` bits (0: 64) up to `distance` bits apart (-1: 12 of 64); the same
 * again changes nothing. */
PAGEDEDUP_API int pagededup_store_create(const char *path, int bits, int distance, pagededup_error *error);
/* One process writes, any number read; a reader sees the store as it was when it was opened. */
PAGEDEDUP_API int pagededup_store_open(pagededup_store **out, const char *path, int mode, pagededup_error *error);
/* Keeps the pages that are new, and answers for each page, in order, with what `store add` says: the columns of its answers ("status" is new,
 * kept or duplicate).  What it says is on disk when it returns.  `answers` may be NULL, else the caller frees *answers. */
PAGEDEDUP_API int pagededup_store_add(pagededup_store *store, const pagededup_table *pages, pagededup_table **answers, pagededup_error *error);
/* The same answers, and nothing is kept: `store check`. */
PAGEDEDUP_API int pagededup_store_check(pagededup_store *store, const pagededup_table *pages, pagededup_table **answers, pagededup_error *error);
/* All that was added is on disk, and tidied up. */
PAGEDEDUP_API int pagededup_store_sync(pagededup_store *store, pagededup_error *error);
/* Nothing more is written. */
PAGEDEDUP_API void pagededup_store_close(pagededup_store *store);

#ifdef __cplusplus
}
#endif

#endif
