/* SPDX-License-Identifier: MIT
 *
 * The store compared with a naive one: random sequences of add, check, remove, compact and reopen give the same
 * answers, for any size at which the log becomes a segment.
 */
#include <check.h>
#include <unistd.h>

#include "store_dir.h"
#include "store_model.h"
#include "row/columns.h"
#include "store/judge.c" /* for its functions that are not exported */

struct world {
	struct model m;
	struct pd_store s;
	char dir[64];
	struct pd_store_judge_options o;
	const char *name;
	size_t asked, matched;
	/* the page with the expected answer */
	const struct pd_store_page *pages;
	struct pd_buf *rows;
	size_t at;
};

static const struct run {
	const char *name;
	int bits, k, steps;
	size_t recent, left;
	enum pd_store_on_duplicate on_duplicate;
	enum pd_store_same_url same_url;
	bool no_verify;
} runs[] = {
	{ "skip, k 3", 64, 3, 120, 10, 3, PD_STORE_SKIP, PD_STORE_SAME_URL_JUDGE, true },
	{ "skip, k 12, sketches", 64, 12, 120, 7, 1, PD_STORE_SKIP, PD_STORE_SAME_URL_JUDGE, false },
	{ "replace, k 8, sketches", 64, 8, 120, 16, 5, PD_STORE_REPLACE, PD_STORE_SAME_URL_JUDGE, false },
	{ "replace, k 0", 64, 0, 80, 5, 2, PD_STORE_REPLACE, PD_STORE_SAME_URL_JUDGE, true },
	{ "skip, update", 64, 6, 120, 12, 4, PD_STORE_SKIP, PD_STORE_SAME_URL_UPDATE, false },
	{ "replace, update", 64, 16, 120, 12, 4, PD_STORE_REPLACE, PD_STORE_SAME_URL_UPDATE, true },
	{ "128 bits", 128, 20, 80, 9, 2, PD_STORE_SKIP, PD_STORE_SAME_URL_JUDGE, true },
	{ "256 bits", 256, 40, 80, 9, 2, PD_STORE_REPLACE, PD_STORE_SAME_URL_JUDGE, true },
	{ "all in the log", 64, 8, 60, 1000000, 1000000, PD_STORE_REPLACE, PD_STORE_SAME_URL_UPDATE, false },
};

static const struct model_page *model_find(const struct world *w, const struct pd_store_page *q)
{
	for (size_t i = 0; i < w->m.n; i++)
		if (w->m.v[i].kept && model_same(&w->m.v[i], q))
			return &w->m.v[i];
	return NULL;
}

static bool has_same_url(const struct world *w, const struct model_page *p, const struct pd_store_page *q)
{
	struct pd_span url = pd_store_text(q->text, PD_STORE_TEXT_URL);
	return w->o.same_url == PD_STORE_SAME_URL_UPDATE && !pd_span_is(url, "-") &&
	       pd_span_eq(url, model_field(p, PD_STORE_TEXT_URL));
}

/* The answer's match of a page, or NULL. */
static const struct pd_store_match *match_of(const struct pd_store_answer *a, uint64_t number)
{
	const struct pd_store_match *found = NULL;
	for (size_t i = 0; i < a->n_matches; i++)
		if (a->matches[i].at.number == number) {
			ck_assert_msg(!found, "page %llu matched twice", (unsigned long long)number);
			found = &a->matches[i];
		}
	return found;
}

static size_t check_matches(struct world *w, const struct pd_store_page *q, const struct pd_store_answer *a, bool *duplicate)
{
	size_t want = 0;
	for (size_t i = 0; i < w->m.n; i++) {
		struct model_page *p = &w->m.v[i];
		int d = p->kept ? model_matches(&w->m, &w->o, p, q) : -2;
		bool version = p->kept && has_same_url(w, p, q);
		if (d < -1 && !version)
			continue;
		const struct pd_store_match *m = match_of(a, p->number);
		ck_assert_msg(m, "%s: page %llu is not among %zu matches (%s)", w->name, (unsigned long long)p->number,
			      a->n_matches, p->row);
		ck_assert_int_eq(m->distance, d);
		ck_assert(pd_span_eq(pd_store_match_text(a, m), pd_span_z(p->text)));
		want++;
		*duplicate = *duplicate || !version;
	}
	ck_assert_msg(a->n_matches == want, "%s: %zu matches, not %zu", w->name, a->n_matches, want);
	return want;
}

static void apply_answer(struct world *w, const struct pd_store_page *q, const struct pd_store_answer *a, bool duplicate)
{
	bool stays = !duplicate || w->o.on_duplicate == PD_STORE_REPLACE;
	if (!w->o.keep || !stays) {
		ck_assert_int_eq(a->status, duplicate ? PD_STORE_DUPLICATE : PD_STORE_NEW);
		return;
	}
	ck_assert_int_eq(a->status, PD_STORE_NEW);
	for (size_t i = 0; i < w->m.n; i++) {
		struct model_page *p = &w->m.v[i];
		const struct pd_store_match *m = p->kept ? match_of(a, p->number) : NULL;
		if (!m)
			continue;
		bool goes = has_same_url(w, p, q) || w->o.on_duplicate == PD_STORE_REPLACE;
		ck_assert_int_eq(m->replaced, goes);
		p->kept = !goes;
	}
	struct model_page *kept = model_keep(&w->m, q, pd_buf_span(&w->rows[w->at]));
	ck_assert_int_eq(a->number, kept->number);
}

static int take_answer(void *ctx, const struct pd_store_answer *a)
{
	struct world *w = ctx;
	const struct pd_store_page *q = &w->pages[w->at];
	const struct model_page *same = model_find(w, q);
	bool duplicate = false;
	w->asked++;
	if (same) {
		ck_assert_int_eq(a->status, PD_STORE_KEPT);
		ck_assert(a->n_matches == 0);
	} else {
		w->matched += check_matches(w, q, a, &duplicate);
		apply_answer(w, q, a, duplicate);
	}
	w->at++;
	return 0;
}

static void ok(const struct world *w, int status, const struct pd_err *e)
{
	ck_assert_msg(status == PD_OK, "%s: %d %s", w->name, status, e->text);
}

static void open_store(struct world *w, enum pd_store_mode mode)
{
	struct pd_err e = { 0 };
	struct pd_store_limits limits = w->s.limits;
	w->s = (struct pd_store){ .limits = limits };
	ok(w, pd_store_open(&w->s, w->dir, mode, &e), &e);
}

static void close_store(struct world *w)
{
	struct pd_store_limits limits = w->s.limits;
	pd_store_close(&w->s);
	w->s.limits = limits;
}

/* A batch of 1 to 12 pages, to be kept or only asked for. */
static void ask(struct world *w, bool keep)
{
	struct pd_store_judge j = { .s = &w->s, .o = w->o };
	size_t n = 1 + model_random(&w->m, 12);
	struct pd_store_page pages[12];
	struct pd_buf rows[12] = { 0 }, texts[12] = { 0 };
	struct pd_err e = { 0 };
	j.o.keep = w->o.keep = keep;
	if (!keep)
		j.o.k = w->o.k = (int)model_random(&w->m, (uint64_t)w->m.k + 1);
	for (size_t i = 0; i < n; i++) {
		model_row(&w->m, &rows[i]);
		ok(w, model_take(&pages[i], &rows[i], &w->s.sketch, &texts[i], &e), &e);
	}
	w->pages = pages;
	w->rows = rows;
	w->at = 0;
	ok(w, pd_store_judge_batch(&j, pages, n, take_answer, w, &e), &e);
	ck_assert(w->at == n);
	if (keep)
		ok(w, pd_store_sync(&w->s, &e), &e);
	if (keep)
		ok(w, pd_store_tend(&w->s, model_random(&w->m, 4) == 0, &e), &e);
	w->o.k = w->m.k;
	for (size_t i = 0; i < n; i++) {
		pd_buf_release(&rows[i]);
		pd_buf_release(&texts[i]);
	}
	pd_store_judge_release(&j);
}

static void remove_some(struct world *w)
{
	struct pd_store_places places = { 0 };
	struct pd_err e = { 0 };
	bool by_url = model_random(&w->m, 2);
	char what[64];
	size_t want = 0;
	if (by_url)
		snprintf(what, sizeof what, "http://h%d.example/%d", (int)model_random(&w->m, 2), (int)model_random(&w->m, 12));
	else
		snprintf(what, sizeof what, "x,y.warc:%d", (int)model_random(&w->m, 40));
	ok(w, store_find_text(&w->s, by_url ? PD_STORE_BY_URL : PD_STORE_BY_ID, pd_span_z(what), &places, &e), &e);
	for (size_t i = 0; i < w->m.n; i++) {
		struct model_page *p = &w->m.v[i];
		if (!p->kept || !pd_span_is(model_field(p, by_url ? PD_STORE_TEXT_URL : PD_STORE_TEXT_ID), what))
			continue;
		want++;
		p->kept = false;
	}
	ck_assert_msg(places.n == want, "%s: %zu under %s, not %zu", w->name, places.n, what, want);
	for (size_t i = 0; i < places.n; i++)
		ok(w, pd_store_remove(&w->s, &places.v[i].number, 1, &e), &e);
	ok(w, pd_store_sync(&w->s, &e), &e);
	free(places.v);
}

static int on_page(void *ctx, uint64_t number, const struct pd_store_page *page)
{
	struct world *w = ctx;
	const struct pd_sketch_options so = { 64, 4, 5 }; /* of the rows here */
	struct pd_buf row = { 0 };
	while (w->at < w->m.n && !w->m.v[w->at].kept)
		w->at++;
	ck_assert_msg(w->at < w->m.n, "%s: more pages than were kept", w->name);
	ck_assert_int_eq(number, w->m.v[w->at].number);
	pd_store_page_row(page, w->m.bits, &so, "", 0, &row);
	row.p[row.n - 1] = 0;
	ck_assert_str_eq(row.p, w->m.v[w->at].row);
	pd_buf_release(&row);
	w->at++;
	return 0;
}

static void no_damage(void *ctx, const char *what)
{
	ck_abort_msg("damage: %s", what);
}

static void verify_store(const struct world *w)
{
	struct pd_store s = { .damaged = no_damage };
	struct pd_err e = { 0 };
	ok(w, pd_store_verify(&s, w->dir, &e), &e);
	pd_store_close(&s);
}

static void check_all(struct world *w)
{
	struct pd_err e = { 0 };
	w->at = 0;
	ok(w, pd_store_each(&w->s, on_page, w, &e), &e);
	while (w->at < w->m.n && !w->m.v[w->at].kept)
		w->at++;
	ck_assert_msg(w->at == w->m.n, "%s: pages are missing", w->name);
}

static void step(struct world *w)
{
	struct pd_err e = { 0 };
	switch (model_random(&w->m, 16)) {
	case 0: remove_some(w); break;
	case 1:
		ok(w, pd_store_compact(&w->s, &e), &e);
		ck_assert(w->s.m.n_segments <= 1 && !w->s.m.tombstones && !w->s.log.recent.n);
		break;
	case 2:
		close_store(w);
		verify_store(w);
		open_store(w, PD_STORE_WRITE);
		break;
	case 3:
	case 4:
	case 5: ask(w, false); break;
	default: ask(w, true);
	}
}

START_TEST(as_the_naive_one)
{
	const struct run *r = &runs[_i];
	struct pd_err e = { 0 };
	struct world w = { .m = { .bits = r->bits, .k = r->k, .next = 1, .random = (uint64_t)_i + 1 }, .name = r->name };
	struct pd_verify_options verify = PD_VERIFY_DEFAULTS;
	w.o = (struct pd_store_judge_options){
		.k = r->k, .on_duplicate = r->on_duplicate, .same_url = r->same_url, .verify = verify
	};
	w.o.verify.off = r->no_verify;
	w.o.verify.k_unknown = r->k / 2;
	store_dir_make(w.dir);
	ok(&w, pd_store_create(w.dir, &(struct pd_store_settings){ r->bits, r->k, r->k }, NULL, &e), &e);
	/* In every second run most batches have more hits than the limit, and are searched again in parts. */
	w.s.limits = (struct pd_store_limits){ .recent = r->recent, .left = r->left, .hits = _i % 2 ? 2 : 0 };
	open_store(&w, PD_STORE_WRITE);
	ok(&w, store_settle(&w.s, pd_span(NULL, 0), pd_span_z("sketch=64x4x5"), "rows", &e), &e);
	for (int i = 0; i < r->steps; i++)
		step(&w);
	check_all(&w);
	ck_assert_msg(w.s.m.n_segments < 20, "%s: %zu segments", r->name, w.s.m.n_segments);
	ck_assert_msg(w.matched > 50, "%s: only %zu matches of %zu pages: the test is too easy", r->name, w.matched, w.asked);
	close_store(&w);
	open_store(&w, PD_STORE_READ);
	check_all(&w);
	close_store(&w);
	store_dir_remove(w.dir);
	free(w.m.v);
}
END_TEST

static void add_random(struct world *w, size_t n)
{
	struct pd_err e = { 0 };
	char text[64];
	uint64_t number;
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof text, "x:%llu\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-", (unsigned long long)w->s.m.next);
		struct pd_store_page page = { .has = PD_STORE_HAS_FINGERPRINT, .text = pd_span_z(text) };
		page.key.w[0] = model_random(&w->m, UINT64_MAX) * UINT64_C(0x9e3779b97f4a7c15);
		pd_store_page_hash(&page);
		ok(w, pd_store_add(&w->s, &page, NULL, 0, &number, &e), &e);
	}
	ok(w, pd_store_sync(&w->s, &e), &e);
}

/* Runs of every size: at the end of each, every segment is over twice as large as all younger ones together, so there are
 * no more than the ternary digits of the number of pages. */
START_TEST(few_segments)
{
	struct world w = { .m = { .bits = 64, .k = 3, .random = 5 }, .name = "few segments" };
	struct pd_err e = { 0 };
	size_t most = 0;
	store_dir_make(w.dir);
	ok(&w, pd_store_create(w.dir, &(struct pd_store_settings){ 64, 3, 3 }, NULL, &e), &e);
	w.s.limits = (struct pd_store_limits){ 8, 2 };
	open_store(&w, PD_STORE_WRITE);
	for (int run = 0; run < 120; run++) {
		uint64_t younger = 0;
		for (uint64_t batch = model_random(&w.m, 12); batch-- > 0;) {
			add_random(&w, 1 + model_random(&w.m, 12));
			ok(&w, pd_store_tend(&w.s, false, &e), &e);
		}
		ok(&w, pd_store_tend(&w.s, true, &e), &e);
		for (size_t i = w.s.m.n_segments; i-- > 0; younger += w.s.m.segments[i].rows)
			ck_assert_msg(w.s.m.segments[i].rows > 2 * younger, "run %d, segment %zu: %llu pages, %llu younger", run, i,
				      (unsigned long long)w.s.m.segments[i].rows, (unsigned long long)younger);
		most = w.s.m.n_segments > most ? w.s.m.n_segments : most;
	}
	ck_assert_msg(most > 2 && most < 9 && w.s.m.next > 3000, "%zu segments at most, %llu pages", most,
		      (unsigned long long)w.s.m.next);
	close_store(&w);
	store_dir_remove(w.dir);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("store");
	TCase *t = tcase_create("model");
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, as_the_naive_one, 0, (int)(sizeof runs / sizeof *runs));
	tcase_add_test(t, few_segments);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
