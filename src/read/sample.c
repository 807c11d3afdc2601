/* SPDX-License-Identifier: MIT
 *
 * All inputs are one row of bytes, file behind file.  Places are evenly spaced in it; from each some records are read,
 * across the ends of files.  Where reading has already come past the next place it just goes on.
 */
#include "read/sample.h"

#include <errno.h>
#include <stdlib.h>

#include "base/threads.h"
#include "read/files.h"
#include "read/source.h"

/* RUN: records at a place, or one of a few would tell nothing of the bytes between them.
 * LOOKS: windows in which a place looks for a record; OVERLAP: of two, so that a start between them is seen whole. */
enum { LOOKS = 4, OVERLAP = 1 << 18, RUN = 16 };

struct sample_file {
	char *path;		/* NULL: standard input */
	char *label;
	uint64_t start, size;	/* in the row of all bytes */
	bool typed;
	bool found;		/* in a folder */
};

struct pd_read_sampler {
	struct pd_reader_options o;
	struct pd_read_sink sink;
	struct pd_read_source source;
	struct pd_read_input look;		/* finds places without disturbing what is being read */
	struct sample_file *files;
	size_t n_files, cap, at;	/* `at`: the file that is open, or comes next */
	bool open;
	uint64_t total, opened;
	struct pd_read_sample_place places[PD_SAMPLE_PLACES];
	int n_places, place;
	int quota, left;		/* records that may be pages, at each place and still at this one */
	uint64_t here;			/* up to here bytes were counted */
	int pending;			/* place of the record that begins there, or -1 */
	int jumps;
	bool unknown_size, skipped, ended;
	double seek_seconds;
};

static void note_file(struct pd_read_sampler *s, const struct pd_read_file *f)
{
	struct sample_file new = { .path = f->path ? pd_strdup(f->path) : NULL, .label = pd_strdup(f->label), .start = s->total,
				   .size = f->size, .typed = f->typed, .found = f->found };
	s->unknown_size |= !f->regular;
	s->total += new.size;
	s->files = pd_grow(s->files, s->n_files, &s->cap, sizeof *s->files);
	s->files[s->n_files++] = new;
}

/* As the reader does: what cannot be opened or read is fatal when it was typed, or no fault of the input, else one more damage. */
static int refuse(struct pd_read_sampler *s, const char *label, bool typed, const char *what, struct pd_err *e)
{
	char reason[256];
	if (typed || pd_errno_is_want(errno))
		return pd_fail_errno(e, "%s: %s", label, what);
	snprintf(reason, sizeof reason, "%s: %s", what, strerror(errno));
	pd_read_sink_tell_whole(&s->sink, label, reason);
	return PD_OK;
}

/* The same of the file whose turn it is; then it is the next one's. */
static int refuse_file(struct pd_read_sampler *s, const char *what, struct pd_err *e)
{
	const struct sample_file *f = &s->files[s->at++];
	return refuse(s, f->label, f->typed, what, e);
}

static int list_files(struct pd_read_sampler *s, struct pd_err *e)
{
	struct pd_read_files files;
	struct pd_read_file f;
	int status = pd_read_files_open(&files, &s->o, e);
	while (status >= 0 && (status = pd_read_files_next(&files, &f, e)) == 1) {
		errno = f.error;
		if (f.error)
			status = refuse(s, f.label, f.typed, "cannot open", e);
		else
			note_file(s, &f);
	}
	pd_read_files_release(&files);
	return status;
}

int pd_read_sampler_open(struct pd_read_sampler **out, const struct pd_reader_options *o, int n, struct pd_err *e)
{
	struct pd_read_sampler *s = pd_zalloc(sizeof *s);
	s->o = *o;
	s->o.once = true;
	s->sink = (struct pd_read_sink){ o->damage, o->damage_ctx, 0 };
	s->n_places = n < RUN ? 1 : n < RUN * PD_SAMPLE_PLACES ? n / RUN : PD_SAMPLE_PLACES;
	s->quota = s->left = (n + s->n_places - 1) / s->n_places;
	s->pending = -1;
	pd_read_source_init(&s->source, o, &s->sink);
	pd_read_input_init(&s->look);
	int status = list_files(s, e);
	if (status < 0) {
		pd_read_sampler_free(s);
		return status;
	}
	*out = s;
	return PD_OK;
}

void pd_read_sampler_free(struct pd_read_sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_files; i++) {
		free(s->files[i].path);
		free(s->files[i].label);
	}
	free(s->files);
	pd_read_input_release(&s->look);
	pd_read_source_release(&s->source);
	free(s);
}

/* --- bytes --- */

/* Reading has come to `to`: what lies before it belongs to the last record. */
static void count_to(struct pd_read_sampler *s, uint64_t to)
{
	struct pd_read_sample_place *p = &s->places[s->pending >= 0 ? s->pending : s->place];
	if (to > s->here)
		p->bytes += to - s->here;
	p->measured += s->pending >= 0;
	s->here = to > s->here ? to : s->here;
	s->pending = -1;
}

static void go_to(struct pd_read_sampler *s, uint64_t to)
{
	s->here = to;
	s->pending = -1;
}

/* Does the file that is open tell where its records begin? */
static bool seekable(const struct pd_read_sampler *s)
{
	const struct pd_read_source *in = &s->source;
	if (!in->in.regular)
		return false;
	if (in->kind == PD_SOURCE_JSONL)
		return !pd_read_member_packed(&in->member);
	return in->kind == PD_SOURCE_DUMP && !in->dump.place.stream;
}

static uint64_t record_at(const struct pd_read_sampler *s)
{
	const struct pd_read_source *in = &s->source;
	if (in->kind == PD_SOURCE_PAGE)
		return s->files[s->at].start;
	if (!seekable(s))
		return s->files[s->at].start + in->in.offset;
	return s->files[s->at].start + (in->kind == PD_SOURCE_JSONL ? in->jsonl.place.offset : in->dump.place.offset);
}

/* --- places --- */

static ptrdiff_t find_line(struct pd_span s)
{
	const char *at = memmem(s.p, s.n, "\n{", 2);
	return at ? at - s.p + 1 : -1;
}

static ptrdiff_t find_plain(const struct pd_read_format *format, struct pd_span s)
{
	for (size_t from = 0; from < s.n;) {
		ptrdiff_t at = format->find(pd_span(s.p + from, s.n - from));
		if (at < 0)
			break;
		from += (size_t)at;
		if (format->begins(pd_span(s.p + from, s.n - from), false))
			return (ptrdiff_t)from;
		from++;
	}
	return -1;
}

static ptrdiff_t find_start(struct pd_read_sampler *s, struct pd_span window)
{
	struct pd_read_source *in = &s->source;
	if (in->kind == PD_SOURCE_JSONL)
		return find_line(window);
	if (pd_read_member_packed(&in->member))
		return pd_read_member_find(&in->member, window, 0);
	return find_plain(in->dump.format, window);
}

/* Where in the open file a record begins, at or behind *offset: 1; 0: there is none; negative: it cannot be read, errno. */
static int find_record(struct pd_read_sampler *s, uint64_t *offset)
{
	bool found = false;
	if (pd_read_input_open(&s->look, s->files[s->at].path) < 0)
		return PD_ERR_SYSTEM;
	for (int i = 0; i < LOOKS && !found; i++) {
		if (pd_read_input_seek(&s->look, *offset) < 0)
			break;
		struct pd_span window = pd_read_input_peek(&s->look, PD_INPUT_WINDOW);
		ptrdiff_t at = find_start(s, window);
		found = at >= 0;
		if (!found && (s->look.end || window.n <= OVERLAP))
			break;
		*offset += found ? (uint64_t)at : window.n - OVERLAP;
	}
	int error = s->look.error;
	pd_read_input_close(&s->look);
	errno = error;
	return error ? PD_ERR_SYSTEM : found;
}

static void close_file(struct pd_read_sampler *s)
{
	if (s->open)
		pd_read_source_close(&s->source);
	s->open = false;
}

/* 1 it is open, 0 it could not be opened: `at` is the next one. */
static int open_sampled(struct pd_read_sampler *s, struct pd_err *e)
{
	const struct sample_file *f = &s->files[s->at];
	pd_read_source_how(&s->source, &(struct pd_read_file){ .found = f->found });
	if (pd_read_source_open(&s->source, f->path, f->label) < 0)
		return refuse_file(s, "cannot open", e);
	s->open = true;
	s->opened++;
	return 1;
}

/* In the open file to the first record at or behind `local`; stays where it is when none is found. */
static int seek_in_file(struct pd_read_sampler *s, uint64_t local, struct pd_err *e)
{
	const struct sample_file *f = &s->files[s->at];
	int found = seekable(s) ? find_record(s, &local) : 0, status = found;
	if (found >= 0 && (!found || f->start + local <= s->here))
		return PD_OK;
	close_file(s);
	if (found > 0) {
		s->skipped = true;
		s->jumps++;
		status = pd_read_source_open_at(&s->source, f->path, f->label, local);
		s->open = status == PD_OK;
		go_to(s, f->start + local);
	}
	if (s->open)
		return PD_OK;
	int error = errno;
	pd_read_source_close(&s->source);
	go_to(s, f->start + f->size);
	errno = error;
	if (status == PD_ERR_SYSTEM)
		return refuse_file(s, "cannot read", e);
	s->at++;
	return PD_OK;
}

static void skip_to_file(struct pd_read_sampler *s, size_t file)
{
	close_file(s);
	s->skipped = true;
	s->jumps++;
	s->at = file;
	go_to(s, s->files[file].start);
}

/* A file that is a page was read to its end with its one record. */
static void end_page(struct pd_read_sampler *s)
{
	if (!s->open || s->source.kind != PD_SOURCE_PAGE)
		return;
	count_to(s, s->files[s->at].start + s->files[s->at].size);
	close_file(s);
	s->at++;
}

static int next_place(struct pd_read_sampler *s, struct pd_err *e)
{
	end_page(s);
	s->left = s->quota;
	if (++s->place == s->n_places || s->at >= s->n_files) {
		s->place--;
		s->ended = true;
		s->skipped |= s->at < s->n_files;
		return PD_OK;
	}
	uint64_t target = (uint64_t)((double)s->total / s->n_places * s->place);
	size_t file = s->at;
	while (file + 1 < s->n_files && s->files[file + 1].start <= target)
		file++;
	if (target <= s->here)
		return PD_OK;
	if (file > s->at)
		skip_to_file(s, file);
	int open = s->open ? 1 : open_sampled(s, e);
	return open > 0 ? seek_in_file(s, target - s->files[s->at].start, e) : open;
}

/* --- records --- */

static int end_file(struct pd_read_sampler *s, int status, struct pd_err *e)
{
	const struct sample_file *f = &s->files[s->at];
	int error = errno;
	count_to(s, f->start + f->size);
	close_file(s);
	errno = error;
	if (status < 0)
		return refuse_file(s, "cannot read", e);
	s->at++;
	return 0;
}

static void count_record(struct pd_read_sampler *s, const struct pd_record *r)
{
	count_to(s, record_at(s));
	s->pending = s->place;
	s->places[s->place].records++;
	s->left -= r->kind != PD_RECORD_OTHER;
}

int pd_read_sampler_next(struct pd_read_sampler *s, struct pd_record *out, struct pd_err *e)
{
	for (;;) {
		if (s->left <= 0) {
			double t = pd_thread_seconds();
			int status = next_place(s, e);
			s->seek_seconds += pd_thread_seconds() - t;
			if (status < 0)
				return status;
		}
		if (s->ended || s->at >= s->n_files)
			return 0;
		int status = s->open ? 1 : open_sampled(s, e);
		if (status < 0)
			return status;
		if (!status)
			continue;
		status = pd_read_source_next(&s->source, out);
		if (status == 1) {
			count_record(s, out);
			return 1;
		}
		status = end_file(s, status, e);
		if (status < 0)
			return status;
	}
}

void pd_read_sampler_stats(const struct pd_read_sampler *s, struct pd_read_sample_stats *out)
{
	*out = (struct pd_read_sample_stats){ .places = s->places,
					 .n_places = s->place + 1,
					 .place = s->place,
					 .bytes_total = s->total,
					 .files = s->opened,
					 .jumps = s->jumps,
					 .damaged = s->sink.count,
					 .unknown_size = s->unknown_size,
					 .whole = !s->skipped && s->at >= s->n_files,
					 .seek_seconds = s->seek_seconds };
}
