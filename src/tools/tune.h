/* SPDX-License-Identifier: MIT
 *
 * Verdicts and labels -> the setting that removes most pages while at most a given share of the removals is wrong.
 *
 * A removal is wrong if a person who compares the removed page with the page kept says that they are not duplicates, or is
 * unsure.  Removals of equal texts need no label and count as right.  From the others a simple random sample is drawn; those of
 * a stricter setting are then a simple random sample of that setting's removals.
 *
 * The settings are limits of loss (apply --max-loss), the limit of the run, and the removal of suspects.  A setting is accepted
 * if the hypothesis "more than the given share is wrong" is rejected by a test that is valid after every label, so people may
 * label until it is accepted: the ratio of prior and posterior of I. Waudby-Smith and A. Ramdas, "Confidence sequences for sampling
 * without replacement" (2020), with a beta-binomial(.1, 20) prior.  The error of 1 - confidence is
 * split: .6 of it for the limit of the run and then suspects, .25 for the other limits, strictest first, each list up to its first
 * setting that is not accepted (fixed sequence testing; A. Angelopoulos et al., "Learn then test", 2021); and .15 for strata, such as
 * languages, each of which has an equal part and its own limit.  docs/tune.md.
 */
#ifndef PD_TOOLS_TUNE_H
#define PD_TOOLS_TUNE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "row/fields.h"
#include "tools/sample.h"

enum { PD_TUNE_LIMITS = 4, PD_TUNE_RUN = PD_TUNE_LIMITS, PD_TUNE_SUSPECTS, PD_TUNE_SETTINGS };

enum pd_tune_label { PD_TUNE_NONE, PD_TUNE_RIGHT, PD_TUNE_WRONG, PD_TUNE_UNSURE }; /* unsure counts as wrong */
enum { PD_TUNE_STRATA = 6 };

/* A removal. */
struct pd_tune_removal {
	double loss;
	bool equal;		/* both texts are equal: right without a label */
	bool suspect;		/* it is removed only with suspects */
	uint8_t label, stratum; /* stratum: below PD_TUNE_STRATA */
	uint8_t labellers;
	bool disputed, overridden; /* people judged it differently; an override decides */
};

/* The counts of a setting, and the result of its test. */
struct pd_tune_setting {
	uint64_t removed, unequal, labelled, wrong; /* unequal, and the following: of removals whose texts differ */
	double bound;				    /* with this confidence, at most this share of `removed` is wrong */
	bool accepted;
};

/* The largest loss of a setting's removals; 1: that of the run. */
extern const double pd_tune_limits[PD_TUNE_SETTINGS];

/* Fill `out`; return the accepted setting that removes most, -1: none. */
int pd_tune_choose(const struct pd_tune_removal *v, size_t n, double max_wrong, double confidence, bool suspects,
		   struct pd_tune_setting out[PD_TUNE_SETTINGS]);
/* A setting for each stratum.  best: the accepted setting that removes most, -1: only equal texts are removed. */
struct pd_tune_by_stratum {
	struct pd_tune_setting settings[PD_TUNE_STRATA][PD_TUNE_SUSPECTS];
	int best[PD_TUNE_STRATA];
	struct pd_tune_setting all; /* the counts of all strata with these settings, and their bound */
};
void pd_tune_choose_by_stratum(const struct pd_tune_removal *v, size_t n, double max_wrong, double confidence,
			       struct pd_tune_by_stratum *out);
/* Return whether a removal remains: by a setting, or if it is NULL by the settings of strata. */
bool pd_tune_is_removed(const struct pd_tune_removal *r, int setting, const struct pd_tune_by_stratum *strata);
/* The number of labels after which the limit of the run is accepted if none is wrong; 0: no label is needed. */
uint64_t pd_tune_needed(const struct pd_tune_setting *run, double max_wrong, double confidence);

/* --- files --- */

struct pd_tune_options {
	const char *verdicts;
	char **labels; /* tables of labels, as the labelling page saves them; a pair with different labels counts as wrong */
	int n_labels;
	const char *override; /* labels that decide, such as after a discussion; NULL: none */
	const char *rows;     /* of fp: strata are the languages of the removed pages; NULL: strata are kinds of hosts */
	bool suspects;
	uint64_t seed;
};

struct pd_tune {
	struct pd_tune_removal *removals;
	struct pd_sampled_pair *pairs; /* parallel: the removed page, the page kept, their URLs; in random order by the seed */
	size_t n, cap, cap_pairs;
	struct pd_map by_pair; /* both ids -> index + 1 */
	struct pd_arena arena;
	uint64_t unknown, twice, disagree; /* labels of other pairs; pairs that several people labelled, and disagreed about */
	uint64_t overridden;
	struct pd_names strata; /* names, by number */
};

int pd_tune_read(struct pd_tune *t, const struct pd_tune_options *o, struct pd_err *e);
/* The sum of pd_estimate_removal over the removals that remain (pd_tune_is_removed). */
uint64_t pd_tune_sum(const struct pd_tune *t, int setting, const struct pd_tune_by_stratum *strata);
/* Write the verdicts with only these removals, and the estimate in their header. */
int pd_tune_write_verdicts(const struct pd_tune *t, const char *verdicts, const char *output, struct pd_span estimate, int setting,
			   const struct pd_tune_by_stratum *strata, struct pd_err *e);
void pd_tune_release(struct pd_tune *t);

#endif
