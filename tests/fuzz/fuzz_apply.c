/* SPDX-License-Identifier: MIT
 *
 * The bytes are a dump from which some pages are removed.  Without removed pages nothing changes; in a sound dump
 * the other pages are unchanged.  If revisits replace the pages and all of them are found again, restoring gives the
 * dump byte for byte.  So do the removed records, unless members are compressed again.
 */
#include <unistd.h>

#include "apply/apply.h"
#include "apply/removed.h"
#include "base/file.h"
#include "row/tsv.h"
#include "fuzz.h"
#include "read/reader.h"

enum { KEPT = 64, BLOCK = 4096 };

struct memory {
	int fd;
	char path[40];
};

static struct memory *memory(int i)
{
	static struct memory files[3];
	struct memory *m = &files[i];
	if (!m->fd) {
		m->fd = memfd_create("file", 0);
		snprintf(m->path, sizeof m->path, "/proc/self/fd/%d", m->fd);
	}
	HOLDS(m->fd > 0);
	return m;
}

static char *file_of(int i, const void *data, size_t n)
{
	struct memory *m = memory(i);
	HOLDS(ftruncate(m->fd, 0) == 0 && pwrite(m->fd, data, n, 0) == (ssize_t)n);
	return m->path;
}

struct seen {
	uint64_t sum[KEPT];
	bool page[KEPT];
	size_t n, damaged;
	struct pd_buf rows;
};

static void damage(void *ctx, const struct pd_read_damage *d)
{
	((struct seen *)ctx)->damaged++;
}

static void bad_row(void *ctx, const char *why)
{
	HOLDS(!"a row that was made here");
}

/* The content of a page, without its position. */
static uint64_t sum_of(const struct pd_record *r)
{
	uint64_t parts[] = { fuzz_sum(pd_buf_span(&r->block)), r->kind, r->length };
	return pd_hash64(parts, sizeof parts);
}

/* Records, and a verdict for each that the mask names. */
static void look(char *path, unsigned mask, struct seen *out)
{
	struct pd_reader_options o = { .inputs = &path, .n_inputs = 1, .max_block = BLOCK, .damage = damage, .damage_ctx = out };
	struct pd_err e;
	struct pd_record r = { 0 };
	struct pd_reader *reader;
	out->n = out->damaged = 0;
	HOLDS(pd_reader_open(&reader, &o, &e) == PD_OK);
	while (out->n < KEPT && pd_reader_next(reader, &r, &e) == 1) {
		size_t i = out->n++;
		out->page[i] = r.kind != PD_RECORD_OTHER;
		out->sum[i] = sum_of(&r);
		if (!out->page[i] || !(mask >> i % 8 & 1))
			continue;
		pd_buf_add_z(&out->rows, "1\t");
		pd_tsv_add(&out->rows, pd_buf_span(&r.id));
		pd_buf_add_z(&out->rows, "\t-\t1\t-\t-\t0\t-\t1\t0\ttest\n");
	}
	pd_reader_free(reader);
	pd_record_release(&r);
}

static uint64_t apply(char *dump, struct seen *seen, char *output)
{
	char *rows = file_of(1, seen->rows.p ? seen->rows.p : "", seen->rows.n);
	struct pd_apply_removals_options d = { .paths = &rows, .n_paths = 1, .bad_row = bad_row };
	struct pd_apply_options o = { .in = { .inputs = &dump, .n_inputs = 1, .max_block = BLOCK },
				      .any_packing = true,
				      .unchecked = true,
				      .output = output };
	struct pd_apply_result done;
	struct pd_apply *a;
	struct pd_err e = { 0 };
	HOLDS(pd_apply_removals_read(&o.removals, &d, &e) == PD_OK);
	HOLDS(pd_apply_open(&a, &o, &e) == PD_OK);
	HOLDS(pd_apply_next(a, &done, &e) == 1);
	HOLDS(done.page ||
	      done.pages + pd_apply_removals_not_found(o.removals, 0, NULL) == pd_apply_removals_counts(o.removals)->pages);
	HOLDS(pd_apply_removals_not_found(o.removals, 0, NULL) == 0);
	uint64_t lost = done.lost;
	pd_apply_free(a);
	pd_apply_removals_free(o.removals);
	return lost;
}

/* One input, one output; true: it could be done. */
static bool run(const struct pd_apply_options *o, struct pd_apply_result *done)
{
	struct pd_apply *a;
	struct pd_err e = { 0 };
	HOLDS(pd_apply_open(&a, o, &e) == PD_OK);
	int r = pd_apply_next(a, done, &e);
	pd_apply_free(a);
	return r == 1;
}

static void there_and_back(char *dump, struct seen *seen, char *output, const uint8_t *data, size_t n)
{
	char back[64], *rows = file_of(1, seen->rows.p ? seen->rows.p : "", seen->rows.n);
	struct pd_apply_removals_options d = { .paths = &rows, .n_paths = 1, .bad_row = bad_row, .keep_dup_of = true };
	struct pd_apply_options o = { .in = { .inputs = &dump, .n_inputs = 1, .max_block = BLOCK },
				      .any_packing = true,
				      .unchecked = true,
				      .output = output,
				      .rewrite_revisits = true };
	struct pd_apply_result done = { 0 }, restored = { 0 };
	struct pd_err e = { 0 };
	file_of(2, "", 0); /* borrowed text is written after its owner */
	HOLDS(pd_apply_removals_read(&o.removals, &d, &e) == PD_OK);
	bool written = run(&o, &done);
	pd_apply_removals_free(o.removals);
	if (!written || !done.revisits)
		return;
	d.n_paths = 1;
	rows = file_of(1, "", 0);
	HOLDS(pd_apply_removals_read(&o.removals, &d, &e) == PD_OK);
	snprintf(back, sizeof back, "/tmp/fuzz-apply.%ld", (long)getpid());
	o.in.inputs = &output;
	o.output = back;
	o.rewrite_revisits = false;
	o.restore = true;
	written = run(&o, &restored);
	pd_apply_removals_free(o.removals);
	FILE *f = written ? fopen(back, "re") : NULL;
	char *bytes = malloc(n + 1);
	HOLDS(!written || f);
	size_t got = f ? fread(bytes, 1, n + 1, f) : 0;
	HOLDS(!f || restored.restored != done.revisits || (got == n && memcmp(bytes, data, n) == 0));
	if (f)
		fclose(f);
	free(bytes);
	unlink(back);
}

/* With the removed records: byte for byte, unless members were compressed again. */
static void removed_and_back(char *dump, struct seen *seen, const uint8_t *data, size_t n)
{
	static char clean[64], gone[64], index[80], back[64];
	char *clean_input = clean, *rows = file_of(1, seen->rows.p ? seen->rows.p : "", seen->rows.n);
	snprintf(clean, sizeof clean, "/tmp/fuzz-clean.%ld", (long)getpid());
	snprintf(gone, sizeof gone, "/tmp/fuzz-removed.%ld", (long)getpid());
	snprintf(index, sizeof index, "%s" PD_APPLY_REMOVED_INDEX, gone);
	snprintf(back, sizeof back, "/tmp/fuzz-back.%ld", (long)getpid());
	struct pd_apply_removals_options d = { .paths = &rows, .n_paths = 1, .bad_row = bad_row };
	struct pd_apply_options o = { .in = { .inputs = &dump, .n_inputs = 1, .max_block = BLOCK },
				      .any_packing = true,
				      .unchecked = true,
				      .output = clean,
				      .removed = gone };
	struct pd_apply_result done = { 0 }, restored = { 0 };
	struct pd_err e = { 0 };
	HOLDS(pd_apply_removals_read(&o.removals, &d, &e) == PD_OK);
	bool written = run(&o, &done) && !done.page && !access(index, R_OK);
	pd_apply_removals_free(o.removals);
	if (written) {
		rows = file_of(1, "", 0);
		HOLDS(pd_apply_removals_read(&o.removals, &d, &e) == PD_OK);
		pd_inputs_forget();
		o.in.inputs = &clean_input;
		o.output = back;
		o.restore = true;
		HOLDS(run(&o, &restored));
		pd_apply_removals_free(o.removals);
		FILE *f = fopen(back, "re");
		HOLDS(f);
		char *bytes = malloc(n + 1);
		size_t got = fread(bytes, 1, n + 1, f);
		HOLDS(restored.repacked || (got == n && memcmp(bytes, data, n) == 0));
		free(bytes);
		fclose(f);
	}
	unlink(clean);
	unlink(gone);
	unlink(index);
	unlink(back);
}

/* The pages that stay, in their order. */
static void compare(const struct seen *before, unsigned mask, const struct seen *after)
{
	size_t k = 0;
	for (size_t i = 0; i < before->n; i++) {
		if (!before->page[i] || mask >> i % 8 & 1)
			continue;
		while (k < after->n && !after->page[k])
			k++;
		HOLDS(k < after->n && after->sum[k] == before->sum[i]);
		k++;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	pd_inputs_forget();
	unsigned mask = fuzz_first(&data, &n);
	struct seen before = { .n = 0 }, after = { .n = 0 };
	char *dump = file_of(0, data, n), *output = file_of(2, "", 0);
	look(dump, mask, &before);
	uint64_t lost = apply(dump, &before, output);
	off_t size = lseek(memory(2)->fd, 0, SEEK_END);
	HOLDS(before.rows.n || (size_t)size == n);
	/* A dump without a page is recognised by its rest: it may then have another format. */
	bool dump_left = before.n && memchr(before.page, 1, sizeof before.page) && before.n < KEPT;
	if (!before.damaged && !lost && dump_left && n > 4 && size > 4 && before.n > 1) {
		look(output, 0, &after);
		if (after.n > 1)
			compare(&before, mask, &after);
	}
	there_and_back(dump, &before, output, data, n);
	pd_inputs_forget();
	removed_and_back(dump, &before, data, n);
	pd_buf_release(&before.rows);
	pd_buf_release(&after.rows);
	return 0;
}
