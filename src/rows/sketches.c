/* SPDX-License-Identifier: MIT */
#include "rows/sketches.h"

#include "base/params.h"

static bool same_kind(const struct pd_sketch_options *a, const struct pd_sketch_options *b)
{
	return a->minima == b->minima && a->bits == b->bits && a->shingle == b->shingle;
}

static void set_kind(struct pd_sketch_intake *in, const struct pd_sketch_options *o)
{
	int i = 0;
	while (i < in->n_kinds && !same_kind(&in->kind[i], o))
		i++;
	if (i == PD_SKETCH_KINDS || !o->minima) {
		in->current = -1;
		return;
	}
	in->kind[i] = *o;
	in->n_kinds += i == in->n_kinds;
	in->current = i;
}

void pd_sketch_intake_file(struct pd_sketch_intake *in)
{
	set_kind(in, &PD_SKETCH_DEFAULT);
}

void pd_sketch_intake_header(struct pd_sketch_intake *in, struct pd_span recorded)
{
	struct pd_sketch_options o = { 0 };
	struct pd_span name = pd_param(recorded, "sketch");
	struct pd_err e;
	if (name.p)
		pd_sketch_read(&o, name, &e);
	set_kind(in, &o);
}

bool pd_sketch_intake_row(struct pd_sketch_intake *in, struct pd_span column, struct pd_buf *out)
{
	struct pd_sketch s = { 0 };
	if (column.n && !pd_span_is(column, "-")) {
		const struct pd_sketch_options *o = in->current < 0 ? NULL : &in->kind[in->current];
		if (!o || column.n != (size_t)pd_sketch_words(o) * 16)
			in->others++;
		else if (!pd_sketch_parse(o, column, &s))
			return false;
		else
			in->rows[in->current]++;
	}
	if (s.present)
		pd_buf_add(out, s.w, (size_t)pd_sketch_words(&in->kind[in->current]) * sizeof *s.w);
	pd_buf_add_c(out, (char)(s.present ? in->current + 1 : 0));
	return true;
}

bool pd_sketch_intake_words(struct pd_sketch_intake *in, const uint64_t *words, uint32_t n_words, struct pd_buf *out)
{
	bool there = words && in->current >= 0;
	if (there && n_words != (uint32_t)pd_sketch_words(&in->kind[in->current]))
		return false;
	in->others += words && !there;
	if (there) {
		in->rows[in->current]++;
		pd_buf_add(out, words, n_words * sizeof *words);
	}
	pd_buf_add_c(out, (char)(there ? in->current + 1 : 0));
	return true;
}

/* Is kind i to be preferred to kind j? */
static bool better(const struct pd_sketch_intake *in, int i, int j)
{
	const struct pd_sketch_options *a = &in->kind[i], *b = &in->kind[j];
	if (in->rows[i] != in->rows[j])
		return in->rows[i] > in->rows[j];
	if (a->minima * a->bits != b->minima * b->bits)
		return a->minima * a->bits > b->minima * b->bits;
	return a->minima != b->minima ? a->minima > b->minima : a->shingle > b->shingle;
}

void pd_sketch_intake_close(const struct pd_sketch_intake *in, struct pd_rows *rows)
{
	int best = 0;
	uint64_t all = in->others;
	for (int i = 0; i < in->n_kinds; i++) {
		all += in->rows[i];
		if (better(in, i, best))
			best = i;
	}
	rows->sketch = in->kind[best];
	rows->sketch_kind = best + 1;
	rows->sketched = in->rows[best];
	rows->other_sketches = all - in->rows[best];
}

/* A row set that was never spooled has no sketches. */
bool pd_rows_sketch(const struct pd_rows *rows, uint32_t row, struct pd_sketch *out)
{
	*out = (struct pd_sketch){ 0 };
	if (!rows->sketched || !rows->spool)
		return false;
	const char *line = rows->spool + pd_offset(&rows->at, row);
	if (line[-1] != rows->sketch_kind)
		return false;
	size_t bytes = (size_t)pd_sketch_words(&rows->sketch) * sizeof *out->w;
	memcpy(out->w, line - 1 - sizeof(uint64_t) - bytes, bytes);
	out->present = true;
	return true;
}
