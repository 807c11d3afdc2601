/* SPDX-License-Identifier: MIT
 *
 * The spine: one record walks through every stage in order.  A pipeline belongs to one thread; what threads share
 * (dictionary, stop words) is in pd_tables and only read.
 */
#ifndef PD_PIPELINE_H
#define PD_PIPELINE_H

#include "link/links.h"
#include "link/ranks.h"
#include "page/blocks.h"
#include "read/page.h"
#include "read/reader.h"
#include "rows/rows.h"
#include "sign/sign.h"
#include "sign/sketch.h"
#include "sign/subject.h"
#include "term/dict.h"
#include "term/wordfiles.h"
#include "text/text.h"
#include "topic/boilerplate.h"
#include "topic/topic.h"

/* The version of the fingerprint itself: any change that alters a fingerprint of the same page raises it. */
#define PD_FINGERPRINT_VERSION 4

/* Everything that shapes a page's row. */
struct pd_options {
	size_t max_page;		/* bytes of a page that are examined */
	const char *status, *content_types;	/* what makes a page, see pd_page_options */
	const char *dict;		/* a compiled dictionary; NULL: the built-in one */
	const char *stopwords;		/* "none", "builtin", or a file with a list */
	int segment;			/* enum pd_segment_method */
	const char *userwords;		/* a file of words beside the dictionary's; NULL: none */
	const char *synonyms;		/* a file of words that mean the same, for methods that replace them; NULL: none */
	const char *idf;		/* a file of word and idf, for methods that weigh words; NULL: the dictionary's */
	const char *key;		/* a file with the secret of all hashes that are compared; NULL: anyone can compute them */
	const char *boilerplate;	/* a table of what sites repeat; NULL: none */
	bool links;			/* all links of a page are wanted, also where no method asks for them */
	const char *ranks;		/* a file of `rank`, for the column quality; NULL: none */
	const char *adverts;		/* a file of hosts of adverts (link/links.h); NULL: the built-in list */
	bool match_stubs;		/* redirects, error pages and the like are signed as any other page */
	struct pd_html_options html;
	struct pd_topic_options topic;
	struct pd_sign_options sign;
	struct pd_sketch_options sketch;
	struct pd_methods methods;	/* none: the fingerprint alone */
};

/* The defaults, or the settings of patent CN101645082 (`--preset=paper`). */
enum pd_preset { PD_PRESET_DEFAULT, PD_PRESET_PAPER };
void pd_options_init(struct pd_options *o, enum pd_preset preset);
/* Were rows whose header has these parameters (pd_tables.must) made with the preset?  What it leaves open may be anything. */
bool pd_options_of_preset(struct pd_span must, enum pd_preset preset);

/* One setting by its name in headers ("shingle", "features", …); PD_ERR_USAGE says what the value may be. */
int pd_option_set(struct pd_options *o, struct pd_span key, struct pd_span value, struct pd_err *e);
/* Names of the choices, in the order of their enums; NULL at the end. */
extern const char *const pd_preset_names[], *const pd_topic_names[], *const pd_hidden_names[], *const pd_stubs_names[], *const pd_segment_names[],
	*const pd_hash_names[], *const pd_weights_names[];

struct pd_tables {
	struct pd_dict *dict;
	struct pd_wordlists words;		/* words.stopwords: that are no terms; NULL: all words are */
	struct pd_stopwords *compared;		/* topic=paper: those that blocks are compared without, where terms keep them */
	struct pd_boilerplate *boilerplate;	/* NULL: none */
	struct pd_secret secret;	/* only with options->key … */
	bool keyed;			/* … which is then true */
	struct pd_buf must;		/* the parameters that must match between files, "k=v k=v" */
	struct pd_buf recorded;		/* those that are only recorded */
	char params[9];			/* 8 hex digits of `must` */
	bool fingerprints;		/* pages get one; else the methods sign alone */
	struct pd_methods methods;	/* beside the fingerprint, each a column */
	struct pd_stopwords *function_words;	/* that methods' keywords never are, where words.stopwords is NULL */
	struct pd_sign_tables sign;	/* what methods share */
	struct pd_ranks ranks;		/* only with options->ranks */
	struct pd_adverts *adverts;	/* NULL: nobody wants links */
};

/* 8 hex digits of what all stages, with `defaults` (pd_options_init) and this dictionary, make of one built-in page: two builds
 * that read it differently have other digits.  The page has what builds were seen or may be expected to differ in. */
int pd_probe(const struct pd_options *defaults, struct pd_dict *dict, char out[9], struct pd_err *e);

int pd_tables_open(struct pd_tables *t, const struct pd_options *o, struct pd_err *e);
/* From here on `b`, which becomes the tables', is what sites repeat; `name` is recorded beside its checksum. */
void pd_tables_boilerplate(struct pd_tables *t, struct pd_boilerplate *b, const char *name);
void pd_tables_release(struct pd_tables *t);

enum pd_phase { PD_PHASE_READ, PD_PHASE_HTTP, PD_PHASE_TEXT, PD_PHASE_PAGE, PD_PHASE_TOPIC, PD_PHASE_SIGN, PD_PHASE_ROW, PD_PHASES };

struct pd_pipeline {
	/* stages */
	struct pd_page_opener *opener;
	struct pd_text_decoder *decoder;
	struct pd_html *html;
	struct pd_segmenter *segmenter;
	struct pd_topic_finder *finder;
	struct pd_topic_finder *learner;	/* for pd_pipeline_site; NULL until it is wanted */
	struct pd_link_finder *link_finder;	/* NULL: nobody wants links */
	struct pd_signer *signer;		/* of the fingerprint */
	struct pd_signer *signers[PD_METHODS_MAX];	/* of tables->methods */
	struct pd_sign_views *views;
	struct pd_sketcher sketcher;
	struct pd_folder *folder;
	struct pd_subject_finder subject_finder;
	const struct pd_tables *tables;
	bool match_stubs;
	int min_terms;
	bool timed;				/* measure `seconds` */
	/* what the last page became, stage by stage */
	struct pd_page page;
	struct pd_text text;
	struct pd_blocks blocks;
	struct pd_buf known;			/* what pd_pipeline_site found out that need not be found again (pd_topic_recall); empty: nothing */
	struct pd_topic topic;
	struct pd_page_links links;
	enum pd_stub stub;
	struct pd_signature signature;		/* the fingerprint */
	struct pd_signature by_method[PD_METHODS_MAX];
	struct pd_sketch sketch;
	struct pd_subject subject;
	struct pd_buf text_digest, content_digest, visible, scratch;
	const struct pd_secret *text_secret;	/* NULL: no keyed hashes are made; belongs to the caller, who sets it after init */
	uint64_t text_hash;			/* the same text as in text_digest, with the secret; 0: it has none */
	/* sums over all pages */
	double seconds[PD_PHASES];
};

/* Returns whether a part of the page was not read: nothing shows that this part is on another page too. */
static inline bool pd_pipeline_is_cut(const struct pd_pipeline *p)
{
	return p->page.flags & PD_PAGE_CUT || p->blocks.cut;
}
int pd_pipeline_init(struct pd_pipeline *p, const struct pd_options *o, const struct pd_tables *t, struct pd_err *e);
void pd_pipeline_release(struct pd_pipeline *p);

/* PD_SKIP_NONE: a page, and everything above is filled; else why not (*reason in words when damaged). */
enum pd_skip pd_pipeline_run(struct pd_pipeline *p, const struct pd_record *in, const char **reason);
/* The same in two steps: up to the blocks, and from there on.  Between them pages may wait as bytes (walk/packed.h). */
enum pd_skip pd_pipeline_parse(struct pd_pipeline *p, const struct pd_record *in, const char **reason);
void pd_pipeline_sign(struct pd_pipeline *p);
/* The page as methods of signing see it. */
static inline struct pd_sign_page pd_pipeline_sign_page(struct pd_pipeline *p)
{
	return (struct pd_sign_page){ .blocks = &p->blocks, .topic = &p->topic, .links = &p->links, .url = p->page.url,
				       .body = p->page.body, .views = p->views };
}

/* What decides about the page, as its row would say it. */
struct pd_facts pd_pipeline_facts(struct pd_pipeline *p);
/* After pd_pipeline_parse: appends what learning keeps of the page (topic/site.h), to be aligned to 8 bytes.  False: the
 * page has no host. */
bool pd_pipeline_site(struct pd_pipeline *p, struct pd_buf *out);

#endif
