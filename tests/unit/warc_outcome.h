/* SPDX-License-Identifier: MIT
 *
 * The contents of a dump as text: one line per record ("OFFSET kind url block-length/length") or damage ("! OFFSET
 * reason"). Each dump is read twice, with the fast way of inflating and with streaming only; both must give the
 * same.
 */
#ifndef PD_TEST_WARC_OUTCOME_H
#define PD_TEST_WARC_OUTCOME_H

#include "read_dumps.h"

#include "read/source.h"

enum { MAX_BLOCK = 1 << 20 };

static struct pd_buf told;

static inline void note(void *ctx, const struct pd_read_damage *d)
{
	pd_buf_printf(&told, "! %s%llu %s\n", d->stream ? "+" : "", (unsigned long long)d->offset, d->reason);
}

static inline void read_one_way(const char *path, bool whole)
{
	static const char *const kinds[] = { "response", "payload", "text", "other" };
	struct pd_read_sink sink = { note, NULL, 0 };
	struct pd_record r = { 0 };
	struct pd_read_source s;
	pd_buf_clear(&told);
	pd_read_source_init(&s, &(struct pd_reader_options){ .max_block = MAX_BLOCK }, &sink);
	if (!whole)
		s.member.whole_max = 0;
	ck_assert_int_eq(pd_read_source_open(&s, path, "f"), 0);
	while (pd_read_source_next(&s, &r) == 1) {
		ck_assert_msg(strncmp(r.id.p, "f:", 2) == 0 || strcmp(r.id.p, "f") == 0, "id %s", r.id.p);
		pd_buf_printf(&told, "%s %s %s %zu/%llu%s\n", r.id.n > 2 ? r.id.p + 2 : "-", kinds[r.kind], pd_buf_z(&r.url),
			      r.block.n, (unsigned long long)r.length, r.cut ? " cut" : "");
	}
	pd_read_source_release(&s);
	pd_record_release(&r);
}

/* The result for the bytes; the text is valid until the next call. */
static inline const char *outcome(const char *name, struct pd_span dump)
{
	char *path = dump_file("dump", dump);
	struct pd_buf first = { 0 };
	read_one_way(path, true);
	pd_buf_set(&first, pd_buf_span(&told));
	read_one_way(path, false);
	ck_assert_msg(pd_span_eq(pd_buf_span(&first), pd_buf_span(&told)), "%s: whole:\n%sstream:\n%s", name, pd_buf_z(&first),
		      pd_buf_z(&told));
	pd_buf_release(&first);
	free(path);
	return pd_buf_z(&told);
}

static inline void expect(const char *name, struct pd_span dump, const char *want)
{
	const char *got = outcome(name, dump);
	ck_assert_msg(strcmp(got, want) == 0, "%s: got\n%swanted\n%s", name, got, want);
}

struct dump {
	struct pd_buf bytes;
	uint64_t at[16]; /* where each member begins */
	int n;
};

static inline void add_member(struct dump *d, struct pd_buf *content)
{
	d->at[d->n++] = d->bytes.n;
	dump_gzip(&d->bytes, pd_buf_span(content));
	pd_buf_clear(content);
}

/* A member a page, pages 0 … n-1. */
static inline void pages(struct dump *d, int n)
{
	struct pd_buf b = { 0 };
	*d = (struct dump){ 0 };
	for (int i = 0; i < n; i++) {
		dump_page(&b, i);
		add_member(d, &b);
	}
	pd_buf_release(&b);
	d->at[n] = d->bytes.n;
}

/* The line that page `number` gives at `place`. */
static inline void line_of(struct pd_buf *out, const char *plus, uint64_t place, int number)
{
	struct pd_buf b = { 0 };
	dump_page(&b, number);
	size_t n = b.n - 4 - (size_t)(pd_span_find(pd_buf_span(&b), pd_span_z("\r\n\r\n")) + 4);
	pd_buf_printf(out, "%s%llu response http://h/%d %zu/%zu\n", plus, (unsigned long long)place, number, n, n);
	pd_buf_release(&b);
}

static inline void lines_of(struct pd_buf *out, const struct dump *d, int from, int to)
{
	for (int i = from; i < to; i++)
		line_of(out, "", d->at[i], i);
}

#endif
