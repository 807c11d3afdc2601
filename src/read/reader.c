/* SPDX-License-Identifier: MIT
 *
 * Connects inputs (files.c) to records (source.c) and counts them.
 */
#include "read/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "read/files.h"
#include "read/select.h"
#include "read/source.h"

struct pd_reader {
	struct pd_reader_options o;
	struct pd_read_sink sink;
	struct pd_read_files files;
	struct pd_read_source source;
	struct pd_read_file file; /* the open file */
	bool open;
	uint64_t done, total;	  /* bytes, of pd_reader_progress */
	struct pd_select *select; /* NULL: all records are read */
	const uint64_t *wanted;	  /* for the open file: the offsets of its selected records … */
	size_t n_wanted, at;	  /* … and the next one */
	struct pd_reader_stats stats;
};

/* A list that is not a file can be read only once. */
static bool can_be_listed_twice(const struct pd_reader_options *o)
{
	struct stat st;
	return !o->files_from || (stat(o->files_from, &st) == 0 && S_ISREG(st.st_mode));
}

/* Return the size of all inputs, including folders; 0 if one of them has no size. */
static uint64_t measure(const struct pd_reader_options *all)
{
	struct pd_reader_options quiet = *all, *o = &quiet;
	quiet.input = quiet.alias = NULL;
	struct pd_read_files files = { 0 };
	struct pd_read_file f;
	uint64_t sum = 0;
	int status = can_be_listed_twice(o) ? pd_read_files_open(&files, o, NULL) : PD_ERR_NOT_FOUND;
	while (!status && pd_read_files_next(&files, &f, NULL) == 1) {
		sum += f.size;
		status = f.regular || f.error ? PD_OK : PD_ERR_NOT_FOUND;
	}
	pd_read_files_release(&files);
	return status ? 0 : sum;
}

int pd_reader_open(struct pd_reader **out, const struct pd_reader_options *o, struct pd_err *e)
{
	struct pd_reader *r = pd_zalloc(sizeof *r);
	r->o = *o;
	r->o.once = true;
	r->sink = (struct pd_read_sink){ o->damage, o->damage_ctx, 0 };
	pd_read_source_init(&r->source, o, &r->sink);
	int status = pd_read_files_open(&r->files, &r->o, e);
	if (status < 0) {
		pd_reader_free(r);
		return status;
	}
	if (o->select && pd_select_open(&r->select, o->select, &r->sink) < 0) {
		status = pd_fail_errno(e, "%s: cannot read", o->select);
		pd_reader_free(r);
		return status;
	}
	r->total = o->measure ? measure(&r->o) : 0;
	*out = r;
	return PD_OK;
}

/* Report an input that cannot be opened or read: an error if it was typed or if the failure is not the input's;
 * otherwise damage. */
static int refuse(struct pd_reader *r, const char *what, int error, struct pd_err *e)
{
	char reason[256];
	errno = error;
	if (r->file.typed || pd_errno_is_want(error))
		return pd_fail_errno(e, "%s: %s", r->file.label, what);
	snprintf(reason, sizeof reason, "%s: %s", what, strerror(error));
	pd_read_sink_tell_whole(&r->sink, r->file.label, reason);
	return PD_OK;
}

/* Only few bytes after a selected record are needed. */
enum { SELECTED_PIECE = 1 << 16 };

/* Return 1: an input is open; 0: there are no more; negative: an error. */
static int open_next(struct pd_reader *r, struct pd_err *e)
{
	for (;;) {
		int status = pd_read_files_next(&r->files, &r->file, e);
		if (status <= 0)
			return status;
		int error = r->file.error;
		if (r->select) {
			r->wanted = pd_select_of(r->select, r->file.label, &r->n_wanted);
			r->at = 0;
			r->source.in.piece = SELECTED_PIECE;
			if (!r->n_wanted && !error)
				continue;
		}
		r->source.found = r->file.found;
		if (!error && pd_read_source_open(&r->source, r->file.path, r->file.label) < 0)
			error = errno;
		if (!error) {
			r->stats.files++;
			r->open = true;
			return 1;
		}
		status = refuse(r, "cannot open", error, e);
		if (status < 0)
			return status;
	}
}

/* Other threads read the count, so it is written atomically. */
static void count_done(struct pd_reader *r)
{
	const struct pd_read_input *in = &r->source.in;
	__atomic_store_n(&r->done, in->taken - (r->open ? in->n - in->at : 0), __ATOMIC_RELAXED);
}

/* Report that the index names a record that does not exist. */
static void report_missing(struct pd_reader *r, uint64_t offset)
{
	pd_read_sink_tell(&r->sink, r->file.label, (struct pd_read_place){ offset, false },
			  "the index names a record here, and none begins here");
}

/* Read the next selected record: in a file, one seek per record; an input that is not seekable is read, and other
 * records are skipped.  Returns as pd_read_source_next. */
static int next_selected(struct pd_reader *r, struct pd_record *out)
{
	struct pd_read_source *s = &r->source;
	while (!s->in.error && s->in.regular && r->file.path && r->at < r->n_wanted) {
		uint64_t offset = r->wanted[r->at++];
		pd_read_source_close(s);
		int status = pd_read_source_open_at(s, r->file.path, r->file.label, offset);
		status = status == PD_OK ? pd_read_source_next(s, out) : status == PD_ERR_NOT_FOUND ? 0 : status;
		if (status < 0)
			return status;
		if (status && s->kind == PD_SOURCE_DUMP && !s->dump.place.stream && s->dump.place.offset == offset)
			return 1;
		report_missing(r, offset);
	}
	int status = r->at < r->n_wanted ? 1 : 0;
	while (status && (status = pd_read_source_next(s, out)) == 1) {
		bool placed = s->kind == PD_SOURCE_DUMP && !s->dump.place.stream;
		while (placed && r->at < r->n_wanted && r->wanted[r->at] < s->dump.place.offset)
			report_missing(r, r->wanted[r->at++]);
		if (placed && r->at < r->n_wanted && r->wanted[r->at] == s->dump.place.offset) {
			r->at++;
			return 1;
		}
	}
	while (!status && r->at < r->n_wanted)
		report_missing(r, r->wanted[r->at++]);
	return status;
}

int pd_reader_next(struct pd_reader *r, struct pd_record *out, struct pd_err *e)
{
	for (;;) {
		int status = pd_call_status();
		if (!status)
			status = r->open ? 1 : open_next(r, e);
		if (status <= 0)
			return status;
		status = r->select ? next_selected(r, out) : pd_read_source_next(&r->source, out);
		if (status == 1) {
			r->stats.records++;
			r->stats.mirrored += r->source.mirrored;
			count_done(r);
			return 1;
		}
		int error = errno;
		pd_read_source_close(&r->source);
		r->open = false;
		count_done(r);
		if (status < 0)
			status = refuse(r, r->source.failed ? r->source.failed : "cannot read", error, e);
		if (status < 0)
			return status;
	}
}

void pd_reader_stats(const struct pd_reader *r, struct pd_reader_stats *out)
{
	*out = r->stats;
	out->damaged = r->sink.count;
	out->aliases = r->files.aliases;
	out->bytes_read = r->source.in.taken;
	out->unselected = r->select ? pd_select_left(r->select) : 0;
}

void pd_reader_progress(const struct pd_reader *r, uint64_t *done, uint64_t *total)
{
	*done = __atomic_load_n(&r->done, __ATOMIC_RELAXED);
	*total = r->total;
}

void pd_read_damage_where(const struct pd_read_damage *d, struct pd_buf *out)
{
	pd_buf_add_z(out, d->file);
	if (!d->whole)
		pd_buf_printf(out, ":%s%llu", d->stream ? "+" : "", (unsigned long long)d->offset);
}

void pd_read_damage_tell(const struct pd_read_damage *d, const char *what, struct pd_log *log)
{
	pd_local_buf where = { 0 };
	if (!d->whole && !pd_log_many(log, d->file))
		return;
	pd_read_damage_where(d, &where);
	pd_log_error(log, "%s: %s%s%s", where.p, d->reason, d->whole ? "" : "; ", d->whole ? "" : what);
}

void pd_reader_free(struct pd_reader *r)
{
	if (!r)
		return;
	pd_read_source_release(&r->source);
	pd_read_files_release(&r->files);
	pd_select_free(r->select);
	free(r);
}
