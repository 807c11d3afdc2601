/* SPDX-License-Identifier: MIT
 *
 * The value of a method, as a column of rows holds it (docs/format-rows.md, Methods), and back; how two values compare.
 *
 *	key		text without white space or commas: equal keys are equal bytes
 *	keywords	KEY,KEY,HASH=WEIGHT,HASH=WEIGHT …	the keys: by falling weight, sorted
 *	set		HASH HASH …	16 hexadecimal digits each, nothing between them; in the order of the page, repeats too
 *	vector		HASH=WEIGHT,HASH …	without a weight: 1
 */
#ifndef PD_SIGN_VALUES_H
#define PD_SIGN_VALUES_H

#include "sign/sign.h"

void pd_value_add_item(struct pd_buf *column, uint64_t hash);
/* One of a list: a comma before it where something stands there. */
void pd_value_add_weighted(struct pd_buf *column, uint64_t hash, double weight);

struct pd_value_item {
	uint64_t hash;
	double weight;		/* set: how often it stands on the page */
};

struct pd_value {
	bool present;
	uint64_t key[2][2];	/* key: the first; keywords: both */
	struct pd_value_item *item;	/* ascending, each once */
	size_t n, cap;
	size_t all;		/* set: with repeats */
	double norm;		/* vector: its length */
};

/* False: the column holds no value of this kind.  "-" and nothing are one that is not present. */
bool pd_value_read(enum pd_sign_kind kind, struct pd_span column, struct pd_value *out);
void pd_value_release(struct pd_value *v);

/* What two values are to each other. */
struct pd_likeness {
	bool match;		/* by the rule */
	double similarity;	/* 0 ... 1: of keys 0 or 1; keywords 1 - SIM; set: the share of the smaller; vector: cosine */
	size_t shared;		/* set: items that are in both */
};

void pd_value_compare(enum pd_sign_kind kind, const struct pd_sign_rule *rule, const struct pd_value *a, const struct pd_value *b,
		      struct pd_likeness *out);
/* How many items of sets, of which the smaller has n, must be shared; 0: it can match nothing. */
size_t pd_value_needed(const struct pd_sign_rule *rule, size_t n);
/* SIM = sum of (a - b)^2 / (sum of a^2 + sum of b^2), aligned by item: 0 of equal weights, 1 with nothing in common. */
double pd_value_sim(const struct pd_value *a, const struct pd_value *b);

#endif
