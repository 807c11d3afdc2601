/* SPDX-License-Identifier: MIT
 *
 * Rules on two pages that share links (patent CN101226533): in, what is known of each page's links, from rows of `link` or from
 * the page itself; out, counts over the links that are on both, and whether a rule calls the pages duplicates.
 *
 *	adverts=N	more than N of them (5) are adverts on both pages
 *	body=N		more than N (5) stand in the main text of both
 *	types=N		more than N (5) have one type on both
 *	domains=N	their targets have fewer than N (5) registered domains, that of the page's own host being one
 *	anchors=S	the share of those whose text is the same on both, but for stop words, is S (1) or more
 *	weighted=P	the score is over P (50): the sum of weight times percentage of the links on both, over five: adverts, body, one
 *			type, of the commonest domain, same text
 *	difference=D	the two pages' scores are no further apart than D (5): the same sums, each over the page's own links
 *	count=M		M (3) or more of the first five are met
 *	signature=S	the signatures of the two pages, from their ranks (link/ranks.h), differ by less than the share S (.05) of the larger;
 *			met by no page that links nowhere, or has no rank
 *
 * A link is known by what it is called (pd_link_name); of several of one name on a page the first counts.  Links back to the home
 * page and those of navigation are left out, unless `navigation` stands in the list.  Where nothing is shared no rule but `signature` is met.
 */
#ifndef PD_LINK_RULES_H
#define PD_LINK_RULES_H

#include "base/map.h"
#include "base/memory.h"
#include "link/links.h"
#include "link/ranks.h"

enum pd_rule { PD_RULE_ADVERTS, PD_RULE_BODY, PD_RULE_TYPES, PD_RULE_DOMAINS, PD_RULE_ANCHORS, PD_RULES_PLAIN,
	       PD_RULE_WEIGHTED = PD_RULES_PLAIN, PD_RULE_DIFFERENCE, PD_RULE_COUNT, PD_RULE_SIGNATURE, PD_RULES };

struct pd_rules {
	bool asked[PD_RULES];		/* each of these decides alone */
	double limit[PD_RULES];
	double weight[PD_RULES_PLAIN];	/* 0 ... 1 */
	bool navigation;
};

/* "adverts,body=7,weighted=40"; `weights`: "adverts=.5,body=1", what is not named weighs nothing; NULL: .2 each.  links, ranks: which
 * files there are.  PD_ERR_USAGE, also where the rules need a file that is not there, or do not need one that is. */
int pd_rules_parse(struct pd_rules *out, const char *list, const char *weights, bool links, bool ranks, struct pd_err *e);
/* As they read back, with all limits; without commas and blanks where `out` cannot have them. */
void pd_rules_print(const struct pd_rules *r, struct pd_buf *out);

/* What the rules read of a link. */
struct pd_link_facts {
	uint64_t name, anchor;		/* hashes; anchor 0: none */
	uint32_t domain;
	uint8_t type;			/* enum pd_link_type */
	bool body;
};

struct pd_rules_counts {
	size_t shared, a, b;			/* links that are on both, in each */
	double count[PD_RULES_PLAIN];		/* as each rule counts it: the domains' number, the anchors' share */
	double weighted, score[2];		/* by the weights of the rules */
	unsigned met;				/* of the first five */
	double signature[2];			/* of both pages; 0: none */
	bool decided[PD_RULES];			/* by each rule, whether asked or not */
};

/* Facts in the order of their names. */
void pd_rules_compare(const struct pd_rules *r, const struct pd_link_facts *a, size_t n_a, const struct pd_link_facts *b, size_t n_b,
		      struct pd_rules_counts *out);
/* Does a rule that was asked for call them duplicates? */
bool pd_rules_decide(const struct pd_rules *r, const struct pd_rules_counts *c);

/* --- facts --- */

struct pd_link_reader;	/* makes facts: the words of anchors are cut by the program's own dictionary */

int pd_link_reader_new(struct pd_link_reader **out, const struct pd_rules *r, struct pd_err *e);
void pd_link_reader_free(struct pd_link_reader *l);

/* All pages of files of `link`, known by their ids; within a budget. */
struct pd_link_table {
	struct pd_array facts_at, first_at;
	struct pd_link_facts *facts;
	uint64_t *first;		/* of page i; that of page n is the end */
	size_t n, n_facts;
	struct pd_map page;		/* hash of the id -> 1 + number */
};

/* PD_ERR_FORMAT: a row that cannot be read, or the rows of a page do not stand together.  PD_ERR_PARAMS: other rules for types. */
int pd_link_table_read(struct pd_link_table *t, struct pd_link_reader *l, const char *path, struct pd_budget *budget, struct pd_err *e);
void pd_link_table_release(struct pd_link_table *t);

/* --- two pages --- */

/* What the rules know of pages: from files of `link` and of `rank`. */
struct pd_rules_files {
	struct pd_link_table links;
	struct pd_ranks ranks;
	size_t bytes;			/* in memory, outside the budget */
};

/* Either path may be NULL.  To be closed whatever comes. */
int pd_rules_open(struct pd_rules_files *f, const struct pd_rules *r, const char *links, const char *ranks, struct pd_budget *budget,
		  struct pd_err *e);
void pd_rules_close(struct pd_rules_files *f);
/* Do the rules call two pages duplicates, by their ids? */
bool pd_rules_pair(const struct pd_rules *r, const struct pd_rules_files *f, struct pd_span a, struct pd_span b);
/* A line for each rule with its normal limit, for people; signatures 0: none. */
int pd_rules_explain(const struct pd_page_links *a, const struct pd_page_links *b, const double signature[2], struct pd_buf *out, struct pd_err *e);

#endif
