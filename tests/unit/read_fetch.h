/* SPDX-License-Identifier: MIT
 *
 * Read dumps in memory through the reader: the result as text, and every record a second time by its id.
 */
#ifndef PD_TEST_READ_FETCH_H
#define PD_TEST_READ_FETCH_H

#include "read_dumps.h"

#include "read/reader.h"

enum { FETCH_BLOCK = 1 << 20 };

static struct pd_buf fetch_told;

static inline void fetch_note(void *ctx, const struct pd_read_damage *d)
{
	pd_buf_printf(&fetch_told, "! %s%llu %s\n", d->stream ? "+" : "", (unsigned long long)d->offset, d->reason);
}

static inline void fetch_same(const struct pd_record *a, const struct pd_reader_options *o)
{
	struct pd_record b = { 0 };
	struct pd_err e = { 0 };
	ck_assert_msg(pd_reader_fetch(a->id.p, o, &b, &e) == 0, "%s", e.text);
	ck_assert_msg(pd_span_eq(pd_buf_span(&a->id), pd_buf_span(&b.id)), "%s became %s", a->id.p, b.id.p);
	ck_assert_msg(pd_span_eq(pd_buf_span(&a->block), pd_buf_span(&b.block)), "%s: block", a->id.p);
	ck_assert_msg(pd_span_eq(pd_buf_span(&a->url), pd_buf_span(&b.url)), "%s: url", a->id.p);
	ck_assert_msg(pd_span_eq(pd_buf_span(&a->user_id), pd_buf_span(&b.user_id)), "%s: user id", a->id.p);
	ck_assert_msg(pd_span_eq(pd_buf_span(&a->fetch_time), pd_buf_span(&b.fetch_time)), "%s: time", a->id.p);
	ck_assert_msg(a->kind == b.kind && a->length == b.length, "%s: kind, length", a->id.p);
	pd_record_release(&b);
}

/* A line a record, "PLACE kind url block-length/length", or a damage, "! PLACE reason".  PLACE is the id without the
 * path.  Lives until the next call. */
static inline const char *fetched_with(const struct pd_read_jsonl_fields *fields, struct pd_span dump, bool again)
{
	static const char *const kinds[] = { "response", "payload", "text", "other" };
	char *path = dump_file("dump", dump);
	struct pd_reader_options o = { .inputs = &path, .n_inputs = 1, .max_block = FETCH_BLOCK, .damage = fetch_note };
	struct pd_record r = { 0 };
	struct pd_err e = { 0 };
	struct pd_reader *reader;
	int s;
	if (fields)
		o.fields = *fields;
	pd_buf_clear(&fetch_told);
	ck_assert_msg(pd_reader_open(&reader, &o, &e) == 0, "%s", e.text);
	while ((s = pd_reader_next(reader, &r, &e)) == 1) {
		const char *place = r.id.p + strlen(path);
		pd_buf_printf(&fetch_told, "%s %s %s %zu/%llu%s\n", *place ? place + 1 : "-", kinds[r.kind],
			      strcmp(pd_buf_z(&r.url), path) ? pd_buf_z(&r.url) : "-", r.block.n, (unsigned long long)r.length,
			      r.cut ? " cut" : "");
		if (again)
			fetch_same(&r, &o);
	}
	ck_assert_msg(s == 0, "%s", e.text);
	pd_reader_free(reader);
	pd_record_release(&r);
	free(path);
	return pd_buf_z(&fetch_told);
}

static inline const char *fetched(struct pd_span dump)
{
	return fetched_with(NULL, dump, true);
}

static inline void fetch_expect(const char *name, struct pd_span dump, const char *want)
{
	const char *got = fetched(dump);
	ck_assert_msg(strcmp(got, want) == 0, "%s: got\n%swanted\n%s", name, got, want);
}

static inline int fetch_count(const char *text, const char *what)
{
	int n = 0;
	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* Try every cut and every flipped bit (one bit in each byte) of `dump`: reading ends, and every record is found
 * again by its id. */
static inline void fetch_damaged(const char *name, struct pd_span dump, size_t step, int records)
{
	struct pd_buf copy = { 0 };
	for (size_t i = 0; i < dump.n; i += step) {
		const char *got = fetched(pd_span(dump.p, i));
		int n = fetch_count(got, "\n") - fetch_count(got, "! ");
		ck_assert_msg(n <= records, "%s: cut at %zu: %s", name, i, got);
		pd_buf_set(&copy, dump);
		copy.p[i] ^= (char)(1 << i % 8);
		fetched(pd_buf_span(&copy));
	}
	pd_buf_release(&copy);
}

static inline int fetch_main(Suite *s, TCase *t)
{
	tcase_set_timeout(t, 300);
	tcase_add_unchecked_fixture(t, dump_folder_make, dump_folder_remove);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}

#endif
