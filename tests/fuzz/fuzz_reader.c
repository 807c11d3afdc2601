/* SPDX-License-Identifier: MIT
 * The bytes as a dump: all its records, each id once, and each record again by its id. */
#include "fuzz.h"
#include "read/reader.h"

enum { KEPT = 24 };

struct seen {
	char *id;
	uint64_t sum;
};

static void damage(void *ctx, const struct pd_read_damage *d)
{
	HOLDS(d->file && d->reason && d->reason[0]);
	*(size_t *)ctx += 1;
}

static uint64_t sum_of(const struct pd_record *r)
{
	uint64_t parts[] = { fuzz_sum(pd_buf_span(&r->url)),
			     fuzz_sum(pd_buf_span(&r->fetch_time)),
			     fuzz_sum(pd_buf_span(&r->digest)),
			     fuzz_sum(pd_buf_span(&r->content_type)),
			     fuzz_sum(pd_buf_span(&r->block)),
			     r->kind,
			     r->length,
			     r->cut };
	return pd_hash64(parts, sizeof parts);
}

static size_t read_all(const struct pd_reader_options *o, struct seen *seen)
{
	struct pd_err e = { 0 };
	struct pd_record r = { 0 };
	struct pd_reader *reader;
	size_t n = 0;
	int status;
	HOLDS(pd_reader_open(&reader, o, &e) == PD_OK);
	while ((status = pd_reader_next(reader, &r, &e)) == 1) {
		HOLDS(r.block.n <= o->max_block && r.id.n);
		if (n < KEPT)
			seen[n++] = (struct seen){ pd_strdup(r.id.p), sum_of(&r) };
	}
	HOLDS(status == 0);
	struct pd_reader_stats stats;
	pd_reader_stats(reader, &stats);
	HOLDS(stats.damaged == *(size_t *)o->damage_ctx && stats.records >= n);
	pd_reader_free(reader);
	pd_record_release(&r);
	return n;
}

static void fetch(const struct pd_reader_options *o, const struct seen *s)
{
	struct pd_err e = { 0 };
	struct pd_record r = { 0 };
	int status = pd_reader_fetch(s->id, o, &r, &e);
	if (status != PD_OK || sum_of(&r) != s->sum)
		fprintf(stderr, "%s: %s\n", s->id, status ? e.text : "another record");
	HOLDS(status == PD_OK && sum_of(&r) == s->sum);
	pd_record_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *inputs[] = { (char *)fuzz_file(data, n) };
	struct seen seen[KEPT];
	size_t damaged = 0;
	struct pd_reader_options o = {
		.inputs = inputs, .n_inputs = 1, .max_block = 4096, .damage = damage, .damage_ctx = &damaged
	};
	size_t kept = read_all(&o, seen);
	for (size_t i = 0; i < kept; i++) {
		for (size_t j = 0; j < i; j++)
			HOLDS(strcmp(seen[i].id, seen[j].id) != 0);
		fetch(&o, &seen[i]);
	}
	for (size_t i = 0; i < kept; i++)
		free(seen[i].id);
	return 0;
}
