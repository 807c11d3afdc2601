/* SPDX-License-Identifier: MIT
 *
 * tune: simulated users label removals until a setting is accepted.  The promise must hold for 95 % of them.
 */
#include <check.h>
#include <stdlib.h>

#include "base/memory.h"
#include "row/estimate.h"
#include "tools/tune.h"

enum { USERS = 1000, REMOVALS = 1000, LOOK = 25, PATIENCE = 400 };

/* A random number below 1. */
static double draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*state >> 11) / 9007199254740992.;
}

/* A dump: the share of equal texts; the share of wrong ones among the others, with the smallest loss and with the largest. */
struct dump {
	const char *name;
	double equal, wrong_first, wrong_last;
	double max_wrong;
	int broken_least, broken_most; /* users of 1,000 whose setting has a larger share of wrong removals */
	double labels_most;	       /* mean number of labels; 0: not compared */
	double other_wrong;	       /* if over 0: a half is in another stratum, with this share of wrong ones */
	int strata_least;	       /* users of 1,000 for whom limits of strata remove most */
};

static const struct dump dumps[] = {
	{ "no wrong removal, two thirds equal", .67, 0, 0, .01, 0, 0, 150 },
	{ "just too many wrong ones at every loss", .6, .0254, .0254, .01, 0, 50, 0 },
	{ "just too many wrong ones in the whole run", .6, 0, .0508, .01, 0, 50, 0 },
	{ "far too many at a large loss", .5, .0, .3, .02, 0, 50, 0 },
	{ "few wrong ones", .6, .002, .006, .02, 0, 0, 150 },
	{ "none is equal, a tenth wrong", 0, .1, .1, .1, 0, 50, 0 },
	{ "every removal is wrong", 0, 1, 1, .01, 0, 0, 0 },
	{ "one stratum is wrong", .3, 0, 0, .05, 0, 50, 0, .3, 950 },
	{ "just too many wrong ones in one stratum", .3, .0729, .0729, .05, 0, 50, 0, .3, 0 },
	{ "just too many wrong ones in both strata", .3, .0729, .0729, .05, 0, 50, 0, .0729, 0 },
};

struct truth {
	struct pd_tune_removal shown[REMOVALS];
	bool wrong[REMOVALS];
};

/* In random order; the number of wrong ones is exact, so that "just too many" is. */
static void make_dump(const struct dump *d, struct truth *t, uint64_t *state)
{
	int equal = (int)(d->equal * REMOVALS), others = REMOVALS - equal;
	double due[2] = { 0 };
	for (int i = 0; i < REMOVALS; i++) {
		double place = i < equal ? 0 : (double)(i - equal + .5) / others;
		int stratum = d->other_wrong > 0 && i % 2;
		t->shown[i] = (struct pd_tune_removal){ .loss = .15 * place, .equal = i < equal, .stratum = (uint8_t)stratum };
		if (i >= equal)
			due[stratum] += stratum ? d->other_wrong : d->wrong_first + (d->wrong_last - d->wrong_first) * place;
		t->wrong[i] = due[stratum] >= .9999;
		due[stratum] -= t->wrong[i];
	}
	for (int i = REMOVALS - 1; i > 0; i--) {
		int k = (int)(draw(state) * (i + 1));
		struct pd_tune_removal r = t->shown[i];
		bool w = t->wrong[i];
		t->shown[i] = t->shown[k];
		t->wrong[i] = t->wrong[k];
		t->shown[k] = r;
		t->wrong[k] = w;
	}
}

static bool keeps_promise(const struct truth *t, int setting, const struct pd_tune_by_stratum *strata, double max_wrong)
{
	int removed = 0, wrong = 0;
	for (int i = 0; i < REMOVALS; i++)
		if (pd_tune_is_removed(&t->shown[i], setting, strata)) {
			removed++;
			wrong += t->wrong[i];
		}
	return wrong <= max_wrong * removed;
}

START_TEST(promise)
{
	const struct dump *d = &dumps[_i];
	struct truth *t = pd_alloc(sizeof *t);
	struct pd_tune_setting s[PD_TUNE_SETTINGS];
	uint64_t state = 7 + (uint64_t)_i;
	int broken = 0, by_strata = 0;
	double labels = 0;
	for (int user = 0; user < USERS; user++) {
		make_dump(d, t, &state);
		int best = -1, n = 0;
		for (int i = 0; i < REMOVALS && n < PATIENCE && best != PD_TUNE_RUN; i++) {
			if (t->shown[i].equal)
				continue;
			t->shown[i].label = t->wrong[i] ? PD_TUNE_WRONG : PD_TUNE_RIGHT;
			if (++n % LOOK == 0)
				best = pd_tune_choose(t->shown, REMOVALS, d->max_wrong, .95, false, s);
		}
		labels += n;
		/* As `tune` chooses. */
		struct pd_tune_by_stratum strata;
		pd_tune_choose(t->shown, REMOVALS, d->max_wrong, .95, false, s);
		pd_tune_choose_by_stratum(t->shown, REMOVALS, d->max_wrong, .95, &strata);
		bool by = strata.all.accepted && (best < 0 || strata.all.removed > s[best].removed);
		by_strata += by;
		broken += by ? !keeps_promise(t, best, &strata, d->max_wrong)
			     : best >= 0 && !keeps_promise(t, best, NULL, d->max_wrong);
	}
	free(t);
	ck_assert_msg(broken >= d->broken_least && broken <= d->broken_most, "%s: the promise is broken for %d of %d users",
		      d->name, broken, USERS);
	ck_assert_msg(by_strata >= d->strata_least, "%s: limits of strata for %d of %d users", d->name, by_strata, USERS);
	if (d->labels_most > 0)
		ck_assert_msg(labels / USERS <= d->labels_most, "%s: %.0f labels on average", d->name, labels / USERS);
}
END_TEST

START_TEST(bounds)
{
	struct pd_tune_removal v[200] = { { 0 } };
	struct pd_tune_setting s[PD_TUNE_SETTINGS];
	for (int i = 0; i < 200; i++)
		v[i] = (struct pd_tune_removal){ .loss = .05, .equal = i < 100 };
	ck_assert_int_eq(pd_tune_choose(v, 200, .5, .95, false, s), PD_TUNE_RUN); /* at most 100 can be wrong */
	ck_assert_int_eq(pd_tune_needed(&s[PD_TUNE_RUN], .5, .95), 0);
	ck_assert_int_eq(pd_tune_choose(v, 200, .01, .95, false, s),
			 PD_TUNE_LIMITS - 3); /* limits under .05 remove only equal texts */
	ck_assert_uint_eq(s[PD_TUNE_RUN].removed, 200);
	ck_assert_uint_eq(s[PD_TUNE_RUN].unequal, 100);
	uint64_t needed = pd_tune_needed(&s[PD_TUNE_RUN], .01, .95);
	for (uint64_t i = 0; i < needed; i++)
		v[100 + i].label = PD_TUNE_RIGHT;
	ck_assert_int_eq(pd_tune_choose(v, 200, .01, .95, false, s), PD_TUNE_RUN);
	ck_assert_double_le(s[PD_TUNE_RUN].bound, .01);
	v[100 + needed - 1].label = PD_TUNE_NONE;
	ck_assert_int_ne(pd_tune_choose(v, 200, .01, .95, false, s), PD_TUNE_RUN);
	for (int i = 100; i < 200; i++)
		v[i].label = i < 103 ? PD_TUNE_WRONG : PD_TUNE_RIGHT;
	pd_tune_choose(v, 200, .01, .95, false, s);
	ck_assert_double_eq_tol(s[PD_TUNE_RUN].bound, .015, 1e-9); /* everything is labelled: 3 of 200 are wrong */
	for (int i = 100; i < 200; i++)
		v[i].suspect = true;
	ck_assert_int_eq(pd_tune_choose(v, 200, .02, .95, true, s), PD_TUNE_SUSPECTS);
	ck_assert_int_eq(pd_tune_choose(v, 200, .01, .95, true, s), PD_TUNE_RUN);
}
END_TEST

/* Shares are rounded up, so that a sentence never promises more than the test has shown. */
static const struct {
	double share;
	const char *text;
} percents[] = { { 0, "0%" },	    { .01, "1%" },	    { .00841, "0.85%" },      { .0084, "0.84%" },
		 { .0101, "1.1%" }, { .0999, "10%" },	    { .099, "9.9%" },	      { .121, "13%" },
		 { 1, "100%" },	    { .000012, "0.0012%" }, { .00000101, "0.00011%" } };

START_TEST(percent)
{
	struct pd_buf out = { 0 };
	pd_estimate_add_percent(percents[_i].share, &out);
	ck_assert_str_eq(pd_buf_z(&out), percents[_i].text);
	pd_buf_release(&out);
}
END_TEST

static const char *const bad_estimates[] = {
	"",
	"wrong=0.01",
	"wrong=0.01,confidence=0.95,labels=1,mistakes=0,removals=012345678",
	"wrong=2,confidence=0.95,labels=1,mistakes=0,removals=0123456789abcdef",
	"wrong=0.1,confidence=1,labels=1,mistakes=0,removals=0123456789abcdef",
	"wrong=0.1,confidence=0.95,labels=-1,mistakes=0,removals=0123456789abcdef",
	"wrong=0.1,confidence=0.95,labels=1,mistakes=0,removals=0123456789abcdeF",
	"wrong=0.1,confidence=0.95,labels=1,mistakes=0,removals=0123456789abcdef,more=1",
};

START_TEST(estimate)
{
	static const char word[] = "wrong=0.0084,confidence=0.95,labels=132,mistakes=2,removals=0123456789abcdef";
	struct pd_estimate v;
	struct pd_err e;
	struct pd_buf out = { 0 };
	ck_assert_int_eq(pd_estimate_parse(pd_span_z(word), &v, &e), PD_OK);
	pd_estimate_print(&v, &out);
	ck_assert_str_eq(pd_buf_z(&out), word);
	pd_buf_clear(&out);
	pd_estimate_say(&v, 0x0123456789abcdef, &out);
	ck_assert_str_eq(pd_buf_z(&out), "at most 0.84% of removals wrong (95%), from 132 labels, 2 of them wrong or unsure");
	pd_buf_clear(&out);
	v.mistakes = 0;
	v.labels = 1;
	pd_estimate_say(&v, 7, &out);
	ck_assert_str_eq(pd_buf_z(&out), "at most 0.84% of removals wrong (95%), from 1 label of other removals");
	pd_buf_release(&out);
	for (size_t i = 0; i < sizeof bad_estimates / sizeof *bad_estimates; i++)
		ck_assert_msg(pd_estimate_parse(pd_span_z(bad_estimates[i]), &v, &e) == PD_ERR_USAGE, "accepted: %s",
			      bad_estimates[i]);
	ck_assert_uint_ne(pd_estimate_removal(pd_span_z("a"), pd_span_z("b")), pd_estimate_removal(pd_span_z("b"), pd_span_z("a")));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tune");
	TCase *c = tcase_create("tune");
	tcase_add_loop_test(c, promise, 0, sizeof dumps / sizeof *dumps);
	tcase_add_test(c, bounds);
	tcase_add_loop_test(c, percent, 0, sizeof percents / sizeof *percents);
	tcase_add_test(c, estimate);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
