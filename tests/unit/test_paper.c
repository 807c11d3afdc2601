/* SPDX-License-Identifier: MIT
 *
 * The patent's rules for the main text, on blocks made by hand: the topic blocks on both sides of every threshold,
 * and their features.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "term/dict.h"
#include "term/wordfiles.h"
#include "topic/topic.h"

enum { BLOCKS_MAX = 5 };

/* A block of a page: its text outside links, then its text inside links. */
struct piece {
	bool title;
	const char *text, *links;
};

static struct pd_dict *dict;
static struct pd_stopwords *stopwords;

static void setup(void)
{
	struct pd_err e = { 0 };
	ck_assert_msg(pd_dict_builtin(&dict, &e) == 0, "%s", e.text);
	ck_assert_msg(pd_stopwords_builtin(&stopwords, &e) == 0, "%s", e.text);
}

static void teardown(void)
{
	pd_stopwords_free(stopwords);
	pd_dict_free(dict);
}

static uint32_t code_points(const char *z)
{
	uint32_t n = 0;
	for (; *z; z++)
		n += (*z & 0xC0) != 0x80;
	return n;
}

static void add_run(struct pd_blocks *b, const char *z, uint32_t block, uint32_t flags)
{
	if (!z || !*z)
		return;
	b->runs = pd_grow(b->runs, b->n_runs, &b->cap_runs, sizeof(*b->runs));
	b->runs[b->n_runs++] = (struct pd_run){
		.at = (uint32_t)b->text.n,
		.n = (uint32_t)strlen(z),
		.chars = code_points(z),
		.box = block + 1,
		.block = block,
		.link = UINT32_MAX,
		.flags = flags | PD_RUN_SPACE | PD_RUN_LINE,
	};
	pd_buf_add_z(&b->text, z);
}

static void add_box(struct pd_blocks *b, struct pd_box box)
{
	b->boxes = pd_grow(b->boxes, b->n_boxes, &b->cap_boxes, sizeof(*b->boxes));
	b->boxes[b->n_boxes++] = box;
}

/* One box a block, all children of the page. */
static void make_blocks(struct pd_blocks *b, const struct piece *pieces)
{
	add_box(b, (struct pd_box){ .parent = PD_BOX_NONE, .block = PD_BLOCK_NONE });
	for (uint32_t i = 0; i < BLOCKS_MAX && pieces[i].text; i++) {
		const struct piece *p = &pieces[i];
		uint32_t first = (uint32_t)b->n_runs, anchor = p->links ? code_points(p->links) : 0;
		add_run(b, p->text, i, 0);
		add_run(b, p->links, i, PD_RUN_LINK);
		uint32_t end = (uint32_t)b->n_runs;
		add_box(b, (struct pd_box){ .end = i + 2,
					    .first_run = first,
					    .end_run = end,
					    .block = i,
					    .tag = p->title ? PD_TAG_h1 : PD_TAG_div });
		b->blocks = pd_grow(b->blocks, i, &b->cap_blocks, sizeof(*b->blocks));
		b->blocks[b->n_blocks++] = (struct pd_block){ .box = i + 1,
							      .title = p->title,
							      .first_run = first,
							      .end_run = end,
							      .chars = code_points(p->text) + anchor,
							      .anchor_chars = anchor };
	}
	b->boxes[0].end = (uint32_t)b->n_boxes;
	b->boxes[0].end_run = (uint32_t)b->n_runs;
}

/* A is far longer than the other text: ten words that occur once, "twice" twice. */
#define LONG_A "alpha bravo charlie delta echo foxtrot golf hotel india juliet twice twice"

/* labels: one letter a block; t topic, a topic-anchor, h title, n noise */
static const struct row {
	const char *name;
	struct piece pieces[BLOCKS_MAX];
	int stop; /* 1: they are not terms; 2: they are terms, and blocks are compared without them */
	const char *labels;
} rows[] = {
	{ "longest is topic", { { 0, "short words here", "" }, { 0, LONG_A, "" } }, 0, "nt" },
	{ "first of two equally long ones", { { 0, "aaaa bbbb", "" }, { 0, "cccc dddd", "" } }, 0, "tn" },
	{ "length is in code points", { { 0, "中文文字字", "" }, { 0, "seven l", "" } }, 0, "nt" },
	{ "three of ten do not qualify", { { 0, LONG_A, "" }, { 0, "alpha bravo charlie k1 k2 k3 k4 k5 k6 k7", "" } }, 0, "tn" },
	{ "four of ten qualify", { { 0, LONG_A, "" }, { 0, "alpha bravo charlie delta k2 k3 k4 k5 k6 k7", "" } }, 0, "tt" },
	{ "the smaller of the two counts", { { 0, LONG_A, "" }, { 0, "alpha k", "" } }, 0, "tt" },
	{ "repetition counts as often as in both", { { 0, LONG_A, "" }, { 0, "twice twice twice k1 k2 k3", "" } }, 0, "tt" },
	{ "repetition counts no oftener than in A", { { 0, LONG_A, "" }, { 0, "alpha alpha alpha k1 k2 k3", "" } }, 0, "tn" },
	{ "nothing in common", { { 0, LONG_A, "" }, { 0, "k1 k2 k3", "" } }, 0, "tn" },
	{ "a block without terms", { { 0, LONG_A, "" }, { 0, "!!! ...", "" }, { 0, "", "" } }, 0, "tnn" },
	{ "stop words are not terms", { { 0, LONG_A " the of", "" }, { 0, "the of zulu", "" } }, 1, "tn" },
	{ "blocks are compared without stop words",
	  { { 0, LONG_A " the of and in to", "" }, { 0, "the of and zulu", "" } },
	  2,
	  "tn" },
	{ "the remaining text decides", { { 0, LONG_A " the of and in to", "" }, { 0, "the of and alpha", "" } }, 2, "tt" },
	{ "stop words alone are nothing in common", { { 0, LONG_A " the of", "" }, { 0, "the of", "" } }, 2, "tn" },
	{ "Chinese words", { { 0, "北京大学的学生学习数学和物理课程内容", "" }, { 0, "学生学习化学", "" } }, 0, "tt" },
	{ "titles stay titles", { { 1, LONG_A LONG_A, "" }, { 0, LONG_A, "" }, { 1, "alpha bravo", "" } }, 0, "hth" },
	{ "only titles", { { 1, LONG_A, "" } }, 0, "h" },
	{ "blocks are compared with A alone", { { 0, LONG_A, "" }, { 0, "alpha k1", "" }, { 0, "k1 k2", "" } }, 0, "ttn" },
	{ "7 of 10 in links stay topic", { { 0, LONG_A, "" }, { 0, "al ", "juliet " } }, 0, "tt" },
	{ "8 of 10 in links are topic-anchor", { { 0, LONG_A, "" }, { 0, "a ", "juliet a" } }, 0, "ta" },
	{ "A too may be topic-anchor", { { 0, "x ", LONG_A }, { 0, "alpha", "" } }, 0, "at" },
	{ "noise of links stays noise", { { 0, LONG_A, "" }, { 0, "", "k1 k2 k3" } }, 0, "tn" },
};

static char letter(const struct pd_decision *d)
{
	return !strcmp(d->label, "title") ? 'h' : !strcmp(d->label, "topic-anchor") ? 'a' : d->label[0];
}

static struct pd_topic find(const struct pd_blocks *b, int stop)
{
	struct pd_segmenter_options so = { dict, stop == 1 ? stopwords : NULL, PD_SEGMENT_PROBABILITY };
	struct pd_topic_options o = PD_TOPIC_DEFAULTS;
	o.method = PD_TOPIC_PAPER;
	o.explain = true;
	o.stopwords = stop == 2 ? stopwords : NULL;
	struct pd_segmenter *s = pd_segmenter_new(&so);
	struct pd_topic_finder *f = pd_topic_finder_new(&o, s);
	struct pd_topic t = { 0 };
	ck_assert_int_eq(pd_topic_find(f, b, NULL, &t), 0);
	pd_topic_finder_free(f);
	pd_segmenter_free(s);
	return t;
}

START_TEST(labels)
{
	const struct row *r = &rows[_i];
	struct pd_blocks b = { 0 };
	make_blocks(&b, r->pieces);
	struct pd_topic t = find(&b, r->stop);
	char got[BLOCKS_MAX + 1] = "";
	ck_assert_msg(t.n_decisions == strlen(r->labels), "%s: %zu decisions", r->name, t.n_decisions);
	for (size_t i = 0; i < t.n_decisions; i++) {
		ck_assert_msg(t.decisions[i].index == i && t.decisions[i].rule, "%s: decision %zu", r->name, i);
		ck_assert_msg(t.decisions[i].kept == (letter(&t.decisions[i]) != 'n'), "%s: kept %zu", r->name, i);
		got[i] = letter(&t.decisions[i]);
	}
	ck_assert_msg(!strcmp(got, r->labels), "%s: %s, not %s", r->name, got, r->labels);
	pd_topic_release(&t);
	pd_blocks_release(&b);
}
END_TEST

/* The contents of a feature: its terms separated by spaces. */
static void check_feature(const struct pd_topic *t, enum pd_feature_kind kind, const char *want)
{
	struct pd_buf got = { 0 };
	for (size_t i = 0; i < t->n_features; i++) {
		const struct pd_feature *f = &t->features[i];
		ck_assert_msg(f->first < f->end && f->end <= t->terms.n, "feature %zu is empty or too long", i);
		for (size_t k = f->first; f->kind == kind && k < f->end; k++) {
			if (got.n)
				pd_buf_add_c(&got, ' ');
			pd_buf_add_span(&got, pd_term_text(&t->terms, &t->terms.v[k]));
		}
	}
	ck_assert_msg(!strcmp(pd_buf_z(&got), want), "%s: \"%s\", not \"%s\"", pd_feature_name(kind), pd_buf_z(&got), want);
	pd_buf_release(&got);
}

START_TEST(features)
{
	const struct piece pieces[BLOCKS_MAX] = {
		{ 1, "Heading", "" },	    { 0, "alpha bravo charlie delta echo foxtrot", "" },
		{ 0, "a ", "bravo delta" }, { 0, "noise k1", "" },
		{ 0, "alpha last", "" },
	};
	struct pd_blocks b = { 0 };
	make_blocks(&b, pieces);
	b.meta.keywords = pd_span_z("one, two");
	b.meta.description = pd_span_z("three");
	struct pd_topic t = find(&b, false);
	check_feature(&t, PD_FEATURE_TITLE, "heading");
	check_feature(&t, PD_FEATURE_META, "one two three");
	check_feature(&t, PD_FEATURE_TEXT, "alpha bravo charlie delta echo foxtrot alpha last");
	check_feature(&t, PD_FEATURE_ANCHOR, "bravo delta");
	ck_assert_str_eq(pd_buf_z(&t.text), "alpha bravo charlie delta echo foxtrot\nalpha last");
	ck_assert_str_eq(pd_buf_z(&t.anchor_text), "bravo delta");
	ck_assert_msg(t.confidence > 0 && t.confidence <= 1, "confidence %f", t.confidence);
	pd_topic_release(&t);
	pd_blocks_release(&b);
}
END_TEST

START_TEST(empty)
{
	struct pd_blocks b = { 0 };
	make_blocks(&b, (const struct piece[BLOCKS_MAX]){ { 0 } });
	struct pd_topic t = find(&b, false);
	ck_assert_msg(t.n_features == 0 && t.text.n == 0 && t.n_decisions == 0, "an empty page has no topic");
	pd_topic_release(&t);
	pd_blocks_release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("paper");
	TCase *c = tcase_create("paper");
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, labels, 0, sizeof rows / sizeof *rows);
	tcase_add_test(c, features);
	tcase_add_test(c, empty);
	suite_add_tcase(s, c);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
