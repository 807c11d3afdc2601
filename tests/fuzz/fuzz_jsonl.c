/* SPDX-License-Identifier: MIT
 *
 * Read the bytes after a sound first line as JSONL; the first byte chooses the field names and the limit of a page.
 * Every line that is not blank is a record or damage, in the order of the file.  The values of a record are UTF-8
 * and within the limit, and each record is found again by its id.
 */
#include "fuzz.h"
#include "read/reader.h"

static const char first_line[] = "{\"url\":\"http://a.example/\",\"text\":\"a\"}\n";

struct run {
	struct pd_reader_options o;
	uint64_t last; /* offset + 1 of the last record or damage */
	size_t damaged, records;
};

static void in_order(struct run *r, uint64_t offset)
{
	HOLDS(offset + 1 > r->last);
	r->last = offset + 1;
}

static void damage(void *ctx, const struct pd_read_damage *d)
{
	struct run *r = ctx;
	HOLDS(!d->stream && d->reason && d->reason[0]);
	in_order(r, d->offset);
	r->damaged++;
}

static void check(struct run *r, const struct pd_record *record)
{
	struct pd_err e = { 0 };
	struct pd_record again = { 0 };
	in_order(r, strtoull(strrchr(record->id.p, ':') + 1, NULL, 10));
	HOLDS(record->block.n <= r->o.max_block &&
	      record->cut == (record->block.n < record->length && record->kind != PD_RECORD_OTHER));
	HOLDS(fuzz_utf8(pd_buf_span(&record->url)) && fuzz_utf8(pd_buf_span(&record->user_id)));
	HOLDS(record->cut || fuzz_utf8(pd_buf_span(&record->block)));
	HOLDS(pd_reader_fetch(record->id.p, &r->o, &again, &e) == PD_OK);
	HOLDS(pd_span_eq(pd_buf_span(&again.url), pd_buf_span(&record->url)) &&
	      pd_span_eq(pd_buf_span(&again.block), pd_buf_span(&record->block)) && again.kind == record->kind);
	pd_record_release(&again);
	r->records++;
}

/* Lines with something in them; a mark at a line's beginning is nothing. */
static size_t lines_of(struct pd_span text)
{
	struct pd_span line;
	size_t n = 0;
	while (text.n && pd_span_split(&text, '\n', &line)) {
		if (line.n >= 3 && memcmp(line.p, "\xef\xbb\xbf", 3) == 0)
			line = pd_span(line.p + 3, line.n - 3);
		n += pd_span_trim(line).n > 0;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	unsigned how = fuzz_first(&data, &n);
	struct pd_buf file = { 0 };
	pd_buf_add(&file, first_line, sizeof first_line - 1);
	pd_buf_add(&file, data, n);
	char *inputs[] = { (char *)fuzz_file(file.p, file.n) };
	struct run r = { .o = { .inputs = inputs, .n_inputs = 1, .max_block = how & 1 ? 4096 : 64, .damage = damage } };
	r.o.damage_ctx = &r;
	if (how & 2)
		r.o.fields = (struct pd_read_jsonl_fields){ .html = "text", .id = "url" };
	struct pd_err e = { 0 };
	struct pd_record record = { 0 };
	struct pd_reader *reader;
	int status;
	HOLDS(pd_reader_open(&reader, &r.o, &e) == PD_OK);
	while ((status = pd_reader_next(reader, &record, &e)) == 1)
		check(&r, &record);
	HOLDS(status == 0 && r.records + r.damaged == lines_of(pd_buf_span(&file)) && r.records > 0);
	pd_reader_free(reader);
	pd_record_release(&record);
	pd_buf_release(&file);
	return 0;
}
