/* SPDX-License-Identifier: MIT
 *
 * Which file of the rows an input is, and which of its pages go.
 */
#include <inttypes.h>

#include "base/page_id.h"
#include "apply/drops_table.h"

/* --- inputs --- */

/* A file of the rows that an input may be by its base name, or PD_NO_FILE; *other: a second one. */
static uint32_t by_base(const struct pd_drops *d, const char *label, uint32_t *other)
{
	uint32_t found = PD_NO_FILE;
	*other = PD_NO_FILE;
	for (uint32_t f = pd_drops_by_base(d, pd_span_z(label)); f != PD_NO_FILE; f = d->files[f].base_next) {
		if (d->files[f].typed)
			continue;
		*other = found;
		found = f;
	}
	return found;
}

void pd_drops_meet(struct pd_drops *d, const char *label)
{
	uint32_t file = pd_drops_file(d, pd_span_z(label));
	if (file != PD_NO_FILE)
		d->files[file].typed = true;
}

int pd_drops_settle(struct pd_drops *d, struct pd_err *e)
{
	if (!d->ambiguous)
		return PD_OK;
	return pd_fail(e, PD_ERR_USAGE, "%s: the base name does not tell which file of the verdicts this is, beside %s: give inputs "
		       "the paths that they had for 'fp'", d->ambiguous, d->beside);
}

static void note_ambiguous(struct pd_drops *d, const char *label, const char *beside)
{
	if (d->ambiguous)
		return;
	d->ambiguous = pd_arena_copy(&d->arena, pd_span_z(label)).p;
	d->beside = beside;
}

const char *pd_drops_name(struct pd_drops *d, const char *label)
{
	uint32_t other;
	if (pd_drops_file(d, pd_span_z(label)) != PD_NO_FILE)
		return label;
	uint32_t file = by_base(d, label, &other);
	if (file == PD_NO_FILE)
		return label;
	struct drop_file *f = &d->files[file];
	/* The label is the walker's and dies; a copy says who it was. */
	if (!f->input)
		f->input = pd_arena_copy(&d->arena, pd_span_z(label)).p;
	if (other == PD_NO_FILE && strcmp(f->input, label) == 0)
		return f->name.p;
	note_ambiguous(d, label, strcmp(f->input, label) != 0 ? f->input : d->files[other].name.p);
	return label;
}

/* The input that was taken for the file of this name, or NULL. */
static const char *input_of(const struct pd_drops *d, struct pd_span name)
{
	uint32_t file = pd_drops_file(d, name);
	return file == PD_NO_FILE ? NULL : d->files[file].input;
}

void pd_drops_here(const struct pd_drops *d, struct pd_span id, struct pd_buf *out)
{
	struct pd_page_id address = pd_page_id_parse(id);
	size_t n = address.file.n;
	const char *input = input_of(d, address.file);
	for (size_t i = 1; i < id.n && !input && !address.has_offset; i++)
		if (id.p[i] == '!')
			input = input_of(d, pd_span(id.p, n = i));
	pd_buf_set(out, input ? pd_span_z(input) : pd_span(id.p, n));
	pd_buf_add_span(out, pd_span(id.p + n, id.n - n));
}

bool pd_drops_any(const struct pd_drops *d, const char *name)
{
	uint32_t file = pd_drops_file(d, pd_span_z(name));
	return file != PD_NO_FILE && d->files[file].any;
}

/* --- pages --- */

static struct drop_at *find_at(const struct pd_drops *d, const struct drop_file *f, uint64_t at)
{
	size_t low = f->first, high = f->first + f->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint64_t v = d->at[mid].at & ~PD_DROP_MET;
		if (v == at)
			return &d->at[mid];
		if (v < at)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static bool same_url(uint32_t said, struct pd_span url)
{
	uint32_t is = pd_drops_url(url);
	return !said || !is || said == is;
}

static struct pd_drop take_whole(struct pd_drops *d, struct pd_span id, struct pd_span url)
{
	uint32_t file = pd_drops_file(d, id);
	struct drop_file *f = file == PD_NO_FILE ? NULL : &d->files[file];
	if (!f || !f->whole)
		return (struct pd_drop){ 0 };
	if (!same_url(f->url, url))
		return (struct pd_drop){ .other_url = true };
	f->met = true;
	return (struct pd_drop){ .found = true, .dup_of = d->whole_dup_of ? d->whole_dup_of[file] : pd_span(NULL, 0) };
}

struct pd_drop pd_drops_take(struct pd_drops *d, struct pd_span id, struct pd_span url)
{
	struct pd_page_id address = pd_page_id_parse(id);
	if (!address.has_offset || address.offset >= PD_DROP_MET)
		return take_whole(d, id, url);
	uint32_t file = pd_drops_file(d, address.file);
	if (file == PD_NO_FILE)
		return (struct pd_drop){ 0 };
	struct drop_at *at = find_at(d, &d->files[file], (address.stream ? PD_DROP_STREAM : 0) | address.offset);
	if (!at)
		return (struct pd_drop){ 0 };
	if (!same_url(at->url, url))
		return (struct pd_drop){ .other_url = true };
	at->at |= PD_DROP_MET;
	return (struct pd_drop){ .found = true, .dup_of = d->dup_of ? d->dup_of[at - d->at] : pd_span(NULL, 0) };
}

static void name_unmet(struct pd_buf *out, uint64_t n, int most, struct pd_span file, const struct drop_at *at)
{
	if (n > (uint64_t)most)
		return;
	pd_buf_printf(out, "%s%.*s", n > 1 ? ", " : "", (int)file.n, file.p);
	if (at)
		pd_buf_printf(out, ":%s%" PRIu64, at->at & PD_DROP_STREAM ? "+" : "", at->at & ~(PD_DROP_STREAM | PD_DROP_MET));
}

uint64_t pd_drops_unmet(const struct pd_drops *d, int most, struct pd_buf *out)
{
	uint64_t n = 0;
	for (size_t i = 0; i < d->n_at; i++)
		if (!(d->at[i].at & PD_DROP_MET))
			name_unmet(out, ++n, most, d->files[d->at[i].file].name, &d->at[i]);
	for (size_t i = 0; i < d->n_files; i++)
		if (d->files[i].whole && !d->files[i].met)
			name_unmet(out, ++n, most, d->files[i].name, NULL);
	return n;
}
