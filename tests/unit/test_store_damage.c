/* SPDX-License-Identifier: MIT
 *
 * Damage, versions and concurrent use: a flipped bit anywhere is named by file and offset, and damaged data gives no
 * answer; newer files are refused; there is one writer at a time; readers next to a writer always find a complete
 * store.
 */
#include <check.h>
#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_dir.h"
#include "store_model.h"
#include "row/columns.h"
#include "store/log.c"	 /* for its functions that are not exported */
#include "store/store.c" /* for its functions that are not exported */
#include "store/judge.c" /* for its functions that are not exported */

enum { QUESTIONS = 40 };

static int each(void *ctx, const struct pd_store_answer *a)
{
	return 0;
}

#define WITH_KEYS "sketch=64x4x5 methods=simhash,exact:of=text:hash=xxh3,keywords:n=6 idf=dict"

/* Values of other methods for a page; some pages share two of them. */
static void add_values(const struct pd_store *s, struct pd_store_page *page, struct pd_buf *text)
{
	char key[40], words[120];
	struct pd_err e;
	uint64_t x = page->hash[PD_STORE_BY_ID] % 5000;
	if (!pd_store_n_values(s))
		return;
	snprintf(key, sizeof key, "%032" PRIx64, x);
	snprintf(words, sizeof words, "%032" PRIx64 ",%032" PRIx64 ",0123456789abcdef=2", x / 2, x / 3);
	const struct pd_span value[] = { pd_span_z(key), pd_span_z(words) };
	ck_assert(pd_store_page_take_values(page, value, 2, text, &e) == PD_OK);
}

static void add_pages(struct pd_store *s, struct model *m, size_t n)
{
	struct pd_store_judge j = {
		.s = s, .o = { .keep = true, .k = 2, .verify.off = true, .on_duplicate = PD_STORE_REPLACE, .least = 1 }
	};
	struct pd_buf row = { 0 }, text = { 0 };
	struct pd_err e = { 0 };
	struct pd_store_page page;
	for (size_t i = 0; i < n; i++) {
		model_row(m, &row);
		pd_buf_clear(&text);
		ck_assert(model_take(&page, &row, &s->sketch, &text, &e) == PD_OK);
		add_values(s, &page, &text);
		ck_assert_msg(pd_store_judge_batch(&j, &page, 1, each, NULL, &e) == PD_OK, "%s", e.text);
	}
	ck_assert_msg(pd_store_sync(s, &e) == PD_OK, "%s", e.text);
	pd_store_judge_release(&j);
	pd_buf_release(&row);
	pd_buf_release(&text);
}

/* Two segments, the first of n pages, a list of removed pages, and a log. */
static void make_store(const char *dir, struct model *m, size_t n)
{
	struct pd_store s = { .limits = { 1, 1 } };
	struct pd_err e = { 0 };
	ck_assert_msg(pd_store_create(dir, &(struct pd_store_settings){ m->bits, m->k, m->k }, NULL, &e) == PD_OK, "%s", e.text);
	ck_assert_msg(pd_store_open(&s, dir, PD_STORE_WRITE, &e) == PD_OK, "%s", e.text);
	ck_assert(store_settle(&s, pd_span_z("bits=64 x=y"), pd_span_z(WITH_KEYS), "rows", &e) == PD_OK);
	add_pages(&s, m, n);
	ck_assert(pd_store_tend(&s, true, &e) == PD_OK);
	add_pages(&s, m, 60);
	ck_assert(pd_store_tend(&s, true, &e) == PD_OK);
	add_pages(&s, m, 10);
	ck_assert(s.m.n_segments == 2 && s.m.tombstones && s.log.recent.n);
	ck_assert(n < 300 || s.segments[0].f.table_bits);
	pd_store_close(&s);
}

static int print_answer(void *ctx, const struct pd_store_answer *a)
{
	struct pd_buf *out = ctx;
	pd_buf_printf(out, "%s %" PRIu64, pd_store_status_names[a->status], a->number);
	for (size_t i = 0; i < a->n_matches; i++)
		pd_buf_printf(out, " %" PRIu64 ":%d:%.*s", a->matches[i].at.number, a->matches[i].distance,
			      (int)a->matches[i].text_n, a->texts.p + a->matches[i].text_at);
	pd_buf_add_c(out, '\n');
	return 0;
}

/* The answers of the store to the same queries, in `out`; or its error. */
static int ask(const char *dir, struct pd_buf *out, struct pd_err *e)
{
	struct model m = { .bits = 64, .k = 3, .random = 77, .scattered = true };
	struct pd_store s = { 0 };
	struct pd_buf row = { 0 }, texts[QUESTIONS] = { 0 };
	struct pd_store_page pages[QUESTIONS];
	struct pd_store_judge j = {
		.s = &s, .o = { .k = 3, .same_url = PD_STORE_SAME_URL_UPDATE, .verify = PD_VERIFY_DEFAULTS, .least = 1 }
	};
	pd_buf_clear(out);
	int status = pd_store_open(&s, dir, PD_STORE_READ, e);
	for (size_t i = 0; !status && i < QUESTIONS; i++) {
		model_row(&m, &row);
		status = model_take(&pages[i], &row, &s.sketch, &texts[i], e);
		if (!status)
			add_values(&s, &pages[i], &texts[i]);
	}
	if (!status)
		status = pd_store_judge_batch(&j, pages, QUESTIONS, print_answer, out, e);
	for (size_t i = 0; i < QUESTIONS; i++)
		pd_buf_release(&texts[i]);
	pd_buf_release(&row);
	pd_store_judge_release(&j);
	pd_store_close(&s);
	return status;
}

struct found {
	const char *name;
	size_t at; /* the position of the flipped bit */
	size_t right;
	struct pd_buf last;
};

/* The file is named, and an offset at or before the damage, in its block. */
static void on_damage(void *ctx, const char *what)
{
	struct found *f = ctx;
	const char *name = strstr(what, f->name), *at = strstr(what, "offset ");
	size_t offset = at ? strtoul(at + 7, NULL, 10) : SIZE_MAX;
	f->right += name && offset <= f->at && (strncmp(f->name, "seg", 3) || f->at - offset < PD_STORE_BLOCK);
	pd_buf_clear(&f->last);
	pd_buf_add_z(&f->last, what);
}

static void flip(const char *path, size_t at, int bit)
{
	FILE *f = fopen(path, "r+");
	ck_assert(f && fseek(f, (long)at, SEEK_SET) == 0);
	int c = fgetc(f);
	ck_assert(c != EOF && fseek(f, (long)at, SEEK_SET) == 0 && fputc(c ^ 1 << bit, f) != EOF);
	ck_assert(fclose(f) == 0);
}

struct saved {
	struct pd_buf rows;
	size_t damaged;
};

static int save_page(void *ctx, uint64_t number, const struct pd_store_page *page)
{
	struct saved *x = ctx;
	const struct pd_sketch_options o = { 64, 4, 5 };
	pd_buf_printf(&x->rows, "%" PRIu64 "\t", number);
	pd_store_page_row(page, 64, &o, "-", 0, &x->rows);
	return 0;
}

static void count_damage(void *ctx, const char *what)
{
	((struct saved *)ctx)->damaged++;
}

/* The salvage of a store: rows, and the number of reported damages. */
static int save(const char *dir, struct saved *x, struct pd_err *e)
{
	struct pd_store s = { .damaged = count_damage, .damaged_ctx = x };
	pd_buf_clear(&x->rows);
	x->damaged = 0;
	int status = pd_store_open(&s, dir, PD_STORE_READ, e);
	if (!status)
		status = pd_store_each(&s, save_page, x, e);
	pd_store_close(&s);
	return status;
}

/* Every salvaged row is one of the sound store.  Missing rows, and removed rows that reappear because their removal
 * is lost, were reported. */
static bool saved_holds(const struct saved *got, const struct saved *want)
{
	struct pd_span a = pd_buf_span(&got->rows), all = pd_buf_span(&want->rows), row, of;
	if (!got->damaged)
		return pd_span_eq(a, all);
	while (a.n && pd_span_split(&a, '\n', &row)) {
		bool known = false;
		for (struct pd_span rest = all; !known && rest.n && pd_span_split(&rest, '\n', &of);)
			known = pd_span_eq(row, of);
		if (!known)
			return false;
	}
	return true;
}

struct sound {
	struct pd_buf answers;
	struct saved kept, ever; /* ever: including removed pages */
};

static void flip_one(const char *dir, struct found *found, size_t at, const struct sound *want)
{
	struct pd_buf got = { 0 };
	struct saved saved = { 0 };
	struct pd_err e = { 0 };
	found->at = at;
	found->right = 0;
	struct pd_store s = { .damaged = on_damage, .damaged_ctx = found };
	int status = pd_store_verify(&s, dir, &e);
	pd_store_close(&s);
	ck_assert_msg(status ? strstr(e.text, found->name) != NULL : found->right > 0, "%s, byte %zu: verify says: %s %s",
		      found->name, at, e.text, pd_buf_z(&found->last));
	status = ask(dir, &got, &e);
	ck_assert_msg(status || !strcmp(got.p, want->answers.p), "%s, byte %zu: another answer", found->name, at);
	status = save(dir, &saved, &e);
	ck_assert_msg(status || saved_holds(&saved, saved.damaged ? &want->ever : &want->kept),
		      "%s, byte %zu: other pages are saved", found->name, at);
	ck_assert_msg(!status || !strcmp(found->name, "manifest") || status == PD_ERR_VERSION, "%s, byte %zu: no data is saved: %s",
		      found->name, at, e.text);
	pd_buf_release(&got);
	pd_buf_release(&saved.rows);
}

static size_t size_of(const char *path)
{
	FILE *f = fopen(path, "r");
	ck_assert(f && fseek(f, 0, SEEK_END) == 0);
	size_t size = (size_t)ftell(f);
	fclose(f);
	return size;
}

static size_t flip_through(const char *dir, const char *name, const struct sound *want)
{
	struct found found = { .name = name };
	char path[512];
	size_t n = 0;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	for (size_t at = 0, size = size_of(path); at < size; at += 7, n++) {
		int bit = (int)(at * 5 % 8);
		flip(path, at, bit);
		flip_one(dir, &found, at, want);
		flip(path, at, bit);
	}
	pd_buf_release(&found.last);
	return n;
}

/* The stored pages without the removed pages of the list and of the log. */
static void save_ever(const char *dir, struct saved *x)
{
	struct pd_store s = { 0 };
	struct pd_err e = { 0 };
	ck_assert(pd_store_open(&s, dir, PD_STORE_READ, &e) == PD_OK);
	store_tombstones_release(&s.log.tombstones);
	ck_assert(pd_store_each(&s, save_page, x, &e) == PD_OK && !x->damaged);
	pd_store_close(&s);
}

START_TEST(flipped_bits)
{
	struct model m = { .bits = 64, .k = 3, .random = 7, .scattered = true };
	struct sound want = { 0 };
	struct pd_err e = { 0 };
	char dir[64];
	size_t n = 0;
	store_dir_make(dir);
	make_store(dir, &m, 300);
	ck_assert_msg(ask(dir, &want.answers, &e) == PD_OK, "%s", e.text);
	ck_assert(strstr(want.answers.p, "duplicate") && strstr(want.answers.p, "new"));
	ck_assert(save(dir, &want.kept, &e) == PD_OK && !want.kept.damaged);
	save_ever(dir, &want.ever);
	ck_assert(want.ever.rows.n > want.kept.rows.n);
	DIR *d = opendir(dir);
	for (struct dirent *entry; (entry = readdir(d));)
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "lock"))
			n += flip_through(dir, entry->d_name, &want);
	closedir(d);
	ck_assert_msg(n > 5000, "only %zu bits", n);
	pd_buf_release(&want.answers);
	pd_buf_release(&want.kept.rows);
	pd_buf_release(&want.ever.rows);
	store_dir_remove(dir);
}
END_TEST

START_TEST(one_writer)
{
	struct model m = { .bits = 64, .k = 8, .random = 7 };
	struct pd_store a = { 0 }, b = { 0 }, c = { 0 };
	struct pd_err e = { 0 };
	char dir[64];
	store_dir_make(dir);
	make_store(dir, &m, 180);
	ck_assert(pd_store_open(&a, dir, PD_STORE_WRITE, &e) == PD_OK);
	ck_assert(pd_store_open(&b, dir, PD_STORE_WRITE, &e) == PD_ERR_LIMIT);
	ck_assert_msg(strstr(e.text, "another process is writing to /"), "%s", e.text);
	ck_assert(pd_store_open(&c, dir, PD_STORE_READ, &e) == PD_OK);
	pd_store_close(&a);
	pd_store_close(&b);
	pd_store_close(&c);
	ck_assert(pd_store_open(&b, dir, PD_STORE_WRITE, &e) == PD_OK);
	pd_store_close(&b);
	store_dir_remove(dir);
}
END_TEST

static void no_damage(void *ctx, const char *what)
{
	ck_abort_msg("damage: %s", what);
}

/* A writer runs between two steps of a reader: the files that the reader is about to open are replaced. */
struct meddling {
	const char *dir;
	struct model *m;
	size_t left;
};

static int meddle(void *ctx, enum pd_store_io_step step, const char *name, size_t *n)
{
	struct meddling *w = ctx;
	struct pd_store s = { .limits = { 8, 2 } };
	struct pd_err e = { 0 };
	if (step != PD_STORE_IO_READ || !strcmp(name, "manifest") || !w->left)
		return 0;
	w->left--;
	ck_assert_msg(pd_store_open(&s, w->dir, PD_STORE_WRITE, &e) == PD_OK, "%s", e.text);
	add_pages(&s, w->m, 12);
	ck_assert_msg(pd_store_compact(&s, &e) == PD_OK, "%s", e.text);
	pd_store_close(&s);
	return 0;
}

/* A store that changes before each of the first files that are opened is a whole one, for looking as for asking. */
START_TEST(looking_beside_a_writer)
{
	struct model m = { .bits = 64, .k = 8, .random = 7 };
	char dir[64];
	store_dir_make(dir);
	make_store(dir, &m, 180);
	for (size_t n = 1; n < 12; n++) {
		struct meddling w = { dir, &m, n };
		struct pd_store s = { .io = { .before = meddle, .ctx = &w }, .damaged = no_damage };
		struct pd_err e = { 0 };
		int status = pd_store_verify(&s, dir, &e);
		ck_assert_msg(status == PD_OK, "%zu changes: %s", n, e.text);
		ck_assert(!w.left);
		pd_store_close(&s);
	}
	store_dir_remove(dir);
}
END_TEST

struct counted {
	size_t n, not_there;
	struct pd_buf last;
};

static void count_told(void *ctx, const char *what)
{
	struct counted *c = ctx;
	c->n++;
	c->not_there += strstr(what, "does not exist") != NULL;
	pd_buf_clear(&c->last);
	pd_buf_add_z(&c->last, what);
}

/* A file that no writer took away is damage, reported once. */
START_TEST(missing_files)
{
	static const char *const names[] = { "log-", "gone-", "seg-" };
	struct model m = { .bits = 64, .k = 3, .random = 7, .scattered = true };
	char dir[64], path[512];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct counted told = { 0 };
		struct pd_store s = { .damaged = count_told, .damaged_ctx = &told };
		struct pd_err e = { 0 };
		store_dir_make(dir);
		make_store(dir, &m, 180);
		DIR *d = opendir(dir);
		struct dirent *entry;
		while ((entry = readdir(d)) && strncmp(entry->d_name, names[i], strlen(names[i])))
			;
		ck_assert(entry);
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		ck_assert(unlink(path) == 0);
		closedir(d);
		ck_assert_msg(pd_store_verify(&s, dir, &e) == PD_OK, "%s: %s", names[i], e.text);
		ck_assert_msg(told.n == 1 && told.not_there == 1, "%s: %zu, %zu: %s", names[i], told.n, told.not_there,
			      pd_buf_z(&told.last));
		pd_store_close(&s);
		s = (struct pd_store){ 0 };
		ck_assert_int_eq(pd_store_open(&s, dir, PD_STORE_READ, &e), PD_ERR_NOT_FOUND);
		pd_store_close(&s);
		pd_buf_release(&told.last);
		store_dir_remove(dir);
	}
}
END_TEST

/* The first hundred damaged blocks of a file are reported, and how many more there are. */
START_TEST(much_damage)
{
	struct counted told = { 0 };
	struct pd_store s = { .limits = { 1000000, 1 } };
	struct pd_err e = { 0 };
	char dir[64], path[128];
	store_dir_make(dir);
	ck_assert(pd_store_create(dir, &(struct pd_store_settings){ 64, 3, 3 }, NULL, &e) == PD_OK);
	ck_assert(pd_store_open(&s, dir, PD_STORE_WRITE, &e) == PD_OK);
	struct pd_buf text = { 0 };
	for (uint64_t i = 0; i < 12000; i++) { /* texts of a length, and sketches, that fill blocks */
		struct pd_store_page page = { .has = PD_STORE_HAS_FINGERPRINT | PD_STORE_HAS_SKETCH };
		uint64_t number;
		page.key.w[0] = i * UINT64_C(0x9e3779b97f4a7c15);
		for (size_t w = 0; w < 8; w++)
			page.sketch[w] = i * w * UINT64_C(0xbf58476d1ce4e5b9);
		pd_buf_clear(&text);
		pd_buf_printf(&text, "%" PRIu64 "\t-", i);
		page.text = pd_buf_span(&text);
		pd_store_page_hash(&page);
		ck_assert(pd_store_add(&s, &page, NULL, 0, &number, &e) == PD_OK);
	}
	pd_buf_release(&text);
	memcpy(s.m.sketch, "128x4x3", 8);
	ck_assert(pd_sketch_read(&s.sketch, pd_span_z("128x4x3"), &e) == PD_OK);
	ck_assert_msg(pd_store_tend(&s, true, &e) == PD_OK, "%s", e.text);
	size_t blocks = s.segments[0].c.sums.n / PD_STORE_BLOCK;
	snprintf(path, sizeof path, "%s/seg-%" PRIu64, dir, s.m.segments[0].file);
	pd_store_close(&s);
	ck_assert_msg(blocks > 110, "only %zu blocks", blocks);
	for (size_t b = 0; b < 107; b++)
		flip(path, b * PD_STORE_BLOCK + 99, 1);
	s = (struct pd_store){ .damaged = count_told, .damaged_ctx = &told };
	ck_assert(pd_store_verify(&s, dir, &e) == PD_OK);
	ck_assert_msg(told.n == 101 && strstr(told.last.p, "damaged in 7 more places"), "%zu: %s", told.n, told.last.p);
	pd_store_close(&s);
	pd_buf_release(&told.last);
	store_dir_remove(dir);
}
END_TEST

/* A child writes, with a new segment every few pages, and its parent reads. */
START_TEST(readers)
{
	struct model m = { .bits = 64, .k = 8, .random = 7 };
	struct pd_buf got = { 0 };
	struct pd_err e = { 0 };
	char dir[64];
	int status = 0, opened = 0;
	store_dir_make(dir);
	make_store(dir, &m, 180);
	pid_t pid = fork();
	if (pid == 0) {
		struct pd_store s = { .limits = { 8, 2 } };
		int bad = pd_store_open(&s, dir, PD_STORE_WRITE, &e);
		for (int i = 0; !bad && i < 150; i++) {
			add_pages(&s, &m, 5);
			bad = i % 20 == 19 ? pd_store_compact(&s, &e) : pd_store_tend(&s, false, &e);
		}
		_exit(bad != 0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct pd_store s = { .damaged = no_damage };
		int bad = opened % 2 ? ask(dir, &got, &e) : pd_store_verify(&s, dir, &e);
		ck_assert_msg(bad == PD_OK, "reader %d: %s", opened, e.text);
		pd_store_close(&s);
		opened++;
	}
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert_msg(opened >= 5, "only %d readers", opened);
	pd_buf_release(&got);
	store_dir_remove(dir);
}
END_TEST

START_TEST(manifests)
{
	static const struct {
		const char *name, *text;
		int status;
		const char *says;
	} rows[] = {
		{ "newer", "pagededup store 9\nwhatever\n", PD_ERR_VERSION, "a store of version 9; this program knows version 7" },
		{ "empty", "", PD_ERR_FORMAT, "not the manifest of a store" },
		{ "another file", "# pagededup fp 1\n", PD_ERR_FORMAT, "not the manifest of a store" },
		{ "no version", "pagededup store x\n", PD_ERR_FORMAT, "no version" },
		{ "cut", "pagededup store 1\nbits 64\n", PD_ERR_FORMAT, "its checksum does not match" },
	};
	struct pd_store_manifest man;
	struct pd_err e = { 0 };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int status = store_manifest_parse(&man, pd_span_z(rows[i].text), "m", &e);
		ck_assert_msg(status == rows[i].status && strstr(e.text, rows[i].says), "%s: %d %s", rows[i].name, status, e.text);
		store_manifest_release(&man);
	}
}
END_TEST

/* Pages with one fingerprint that are not like each other: all but the first few have bands. */
static void add_dense(struct pd_store *s, struct model *m, size_t n)
{
	struct pd_store_judge j = { .s = s, .o = { .keep = true, .k = 2, .verify = PD_VERIFY_DEFAULTS } };
	struct pd_buf row = { 0 }, text = { 0 };
	struct pd_err e = { 0 };
	struct pd_store_page page;
	for (size_t i = 0; i < n; i++) {
		pd_buf_clear(&row);
		pd_buf_clear(&text);
		pd_buf_printf(&row,
			      "00ff00ff00ff00ff\tdense.warc:%zu\thttp://h%zu.example/\t-\t-\t-\tutf-8\teng\t9\t100\t0.50\t-\t-\t",
			      m->n + i, i);
		for (int w = 0; w < 4; w++)
			model_hex(model_random(m, UINT64_C(1) << 31) << 33 ^ model_random(m, UINT64_C(1) << 31) << 3, &row);
		pd_buf_printf(&row, "\t-\t-\t%016zx", i + 1);
		ck_assert_msg(model_take(&page, &row, &s->sketch, &text, &e) == PD_OK, "%s", e.text);
		ck_assert_msg(pd_store_judge_batch(&j, &page, 1, each, NULL, &e) == PD_OK, "%s", e.text);
	}
	m->n += n;
	ck_assert(pd_store_sync(s, &e) == PD_OK);
	pd_store_judge_release(&j);
	pd_buf_release(&row);
	pd_buf_release(&text);
}

/* A store of this version, to be kept in tests/data/store: two segments, the first with tables of blocks, a list of
 * removed pages, a log; all of them contain pages with bands and subjects. */
START_TEST(make_golden)
{
	struct model m = { .bits = 64, .k = 3, .random = 2026, .scattered = true };
	struct pd_store s = { .limits = { 1, 1, 64 } };
	struct pd_err e = { 0 };
	const char *dir = getenv("MAKE_STORE");
	ck_assert_msg(pd_store_create(dir, &(struct pd_store_settings){ m.bits, m.k, m.k }, NULL, &e) == PD_OK, "%s", e.text);
	ck_assert_msg(pd_store_open(&s, dir, PD_STORE_WRITE, &e) == PD_OK, "%s", e.text);
	ck_assert(store_settle(&s, pd_span_z("bits=64 x=y"), pd_span_z("sketch=64x4x5"), "rows", &e) == PD_OK);
	add_pages(&s, &m, 300);
	add_dense(&s, &m, 75);
	ck_assert(pd_store_tend(&s, true, &e) == PD_OK);
	add_pages(&s, &m, 40);
	add_dense(&s, &m, 5);
	ck_assert(pd_store_tend(&s, true, &e) == PD_OK);
	add_pages(&s, &m, 20);
	add_dense(&s, &m, 5);
	pd_store_close(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("store_damage");
	TCase *t = tcase_create("damage");
	tcase_set_timeout(t, 300);
	if (getenv("MAKE_STORE"))
		tcase_add_test(t, make_golden);
	tcase_add_test(t, flipped_bits);
	tcase_add_test(t, one_writer);
	tcase_add_test(t, looking_beside_a_writer);
	tcase_add_test(t, missing_files);
	tcase_add_test(t, much_damage);
	tcase_add_test(t, readers);
	tcase_add_test(t, manifests);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
