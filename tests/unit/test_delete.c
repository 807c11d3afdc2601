/* SPDX-License-Identifier: MIT
 *
 * Files to delete that change between their examination and their deletion.  tests/shell/apply.sh tests which pages
 * may be deleted.
 */
#include "read_dumps.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "apply/delete.h"
#include "read/files.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Another file under the same name, of the same length and time. */
static void replace_file(const char *path, const char *text)
{
	struct stat st;
	char other[4096];
	snprintf(other, sizeof other, "%s.new", path);
	ck_assert(stat(path, &st) == 0);
	write_file(other, text);
	struct timespec times[2] = { st.st_atim, st.st_mtim };
	ck_assert(utimensat(AT_FDCWD, other, times, 0) == 0 && rename(other, path) == 0);
}

enum happens {
	NOTHING,
	GOING_REPLACED,
	GOING_WRITTEN,
	GOING_MISSING,
	KEPT_REPLACED,
	KEPT_EMPTIED,
	KEPT_MISSING,
	GOING_IS_KEPT_NOW
};

static const struct meanwhile {
	const char *name;
	enum happens happens;
	const char *why;  /* a part of it; NULL: the file is gone */
	bool going, kept; /* the files afterwards */
} rows[] = {
	{ "nothing", NOTHING, NULL, false, true },
	{ "the file is replaced", GOING_REPLACED, "it was replaced", true, true },
	{ "the file is written to", GOING_WRITTEN, "it was replaced", true, true },
	{ "the file is deleted by another", GOING_MISSING, "it was replaced", false, true },
	{ "the page kept is replaced", KEPT_REPLACED, "was changed during this run", true, true },
	{ "the page kept is emptied", KEPT_EMPTIED, "was changed during this run", true, true },
	{ "the page kept is deleted", KEPT_MISSING, "was changed during this run", true, false },
	{ "the page kept becomes a link to the file", GOING_IS_KEPT_NOW, "was changed during this run", true, true },
};

static void happen(enum happens what, const char *going, const char *kept)
{
	switch (what) {
	case NOTHING: break;
	case GOING_REPLACED: replace_file(going, "<p>other words"); break;
	case GOING_WRITTEN: write_file(going, "<p>more words than before"); break;
	case GOING_MISSING: unlink(going); break;
	case KEPT_REPLACED: replace_file(kept, "<p>other words"); break;
	case KEPT_EMPTIED: write_file(kept, ""); break;
	case KEPT_MISSING: unlink(kept); break;
	case GOING_IS_KEPT_NOW: ck_assert(unlink(kept) == 0 && link(going, kept) == 0); break;
	}
}

static int n_entries(const char *folder)
{
	struct pd_read_files files;
	struct pd_read_file f;
	struct pd_err e;
	char *inputs[] = { (char *)folder };
	struct pd_reader_options o = { .inputs = inputs, .n_inputs = 1 };
	int n = 0;
	ck_assert_int_eq(pd_read_files_open(&files, &o, &e), PD_OK);
	while (pd_read_files_next(&files, &f, &e) == 1)
		n++;
	pd_read_files_release(&files);
	return n;
}

START_TEST(test_meanwhile)
{
	static const char text[] = "<p>some words.";
	const struct meanwhile *m = &rows[_i];
	struct pd_buf digest = { 0 }, row = { 0 };
	char *folder = dump_file("x", pd_span("", 0));
	*strrchr(folder, '/') = 0;
	struct pd_buf going = { 0 }, kept = { 0 }, fp = { 0 };
	pd_buf_printf(&going, "%s/going.html", folder);
	pd_buf_printf(&kept, "%s/kept.html", folder);
	pd_buf_printf(&fp, "%s/rows.fp", folder);
	write_file(going.p, text);
	write_file(kept.p, text);
	pd_sha1_base32(pd_span_z(text), &digest);
	for (int i = 0; i < 2; i++)
		pd_buf_printf(&row, "-\t%s\t-\t-\t%s\t-\tutf-8\teng\t2\t11\t0.5\t-\t-\t-\t-\t0badcafe\n", i ? kept.p : going.p,
			      digest.p);
	write_file(fp.p, row.p);

	struct pd_apply_deleter r = { .rows = fp.p, .max_page = 1 << 20, .max_block = 1 << 20 };
	struct pd_apply_deleted out;
	struct pd_err e;
	pd_apply_deleter_add(&r, going.p, pd_buf_span(&kept), false);
	ck_assert_msg(pd_apply_deleter_check(&r, &e) == PD_OK, "%s: %s", m->name, e.text);
	ck_assert_msg(access(going.p, F_OK) == 0, "%s: looking deletes nothing", m->name);
	happen(m->happens, going.p, kept.p);
	int before = n_entries(folder);
	ck_assert_msg(pd_apply_deleter_next(&r, &out) == 1, "%s", m->name);
	ck_assert_msg(m->why ? out.why && strstr(out.why, m->why) : !out.why, "%s: %s", m->name, out.why ? out.why : "gone");
	ck_assert_msg((access(going.p, F_OK) == 0) == m->going, "%s: the file", m->name);
	ck_assert_msg((access(kept.p, F_OK) == 0) == m->kept, "%s: the page kept", m->name);
	ck_assert_msg(n_entries(folder) == before - !m->why, "%s: a temporary file remains", m->name);
	ck_assert_msg(pd_apply_deleter_next(&r, &out) == 0, "%s", m->name);
	ck_assert_msg(r.deleted == !m->why && r.refused == !!m->why, "%s: counts", m->name);
	pd_apply_deleter_release(&r);
	struct pd_buf *bufs[] = { &digest, &row, &going, &kept, &fp };
	for (int i = 0; i < 5; i++)
		pd_buf_release(bufs[i]);
	free(folder);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("remove");
	TCase *t = tcase_create("meanwhile");
	tcase_add_unchecked_fixture(t, dump_folder_make, dump_folder_remove);
	tcase_add_loop_test(t, test_meanwhile, 0, sizeof rows / sizeof *rows);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
