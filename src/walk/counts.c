/* SPDX-License-Identifier: MIT */
#include "walk/counts.h"

#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "base/outfile.h"
#include "base/threads.h"

#define TELLING .005	/* the share from which the time that is left can be told */

void pd_walk_progress_start(struct pd_walk_progress *p)
{
	*p = (struct pd_walk_progress){ .started = pd_wall_seconds() };
}

void pd_walk_progress(struct pd_walk_progress *p, const struct pd_reader *r, struct pd_log *log, bool page)
{
	p->pages += page;
	if (!log->progress)
		return;
	struct pd_reader_stats s;
	pd_reader_stats(r, &s);
	double seconds = pd_wall_seconds() - p->started + 1e-6, done = (double)s.bytes_done * 1e-6;
	if (!s.bytes_total) {
		pd_log_progress(log, "%" PRIu64 " pages, %.1f MB, %.1f MB/s", p->pages, done, done / seconds);
		return;
	}
	double share = fmin(1, (double)s.bytes_done / (double)s.bytes_total);
	if (share < TELLING) {
		pd_log_progress(log, "%" PRIu64 " pages, %.1f MB/s, %.0f %%", p->pages, done / seconds, share * 100);
		return;
	}
	double left = seconds / share * (1 - share);
	pd_log_progress(log, "%" PRIu64 " pages, %.1f MB/s, %.0f %%, %d:%02d left", p->pages, done / seconds, share * 100, (int)left / 60,
			(int)left % 60);
}

static uint64_t left_out(const struct pd_walk_counts *c)
{
	uint64_t n = 0;
	for (int s = PD_SKIP_NONE + 1; s < PD_SKIP_COUNT; s++)
		n += s == PD_SKIP_DAMAGED ? 0 : c->skipped[s];
	return n;
}

static uint64_t damaged(const struct pd_walk_counts *c)
{
	return c->input.damaged + c->skipped[PD_SKIP_DAMAGED];
}

void pd_walk_total(const struct pd_walk_counts *c, struct pd_buf *out)
{
	pd_buf_printf(out, "# total pages=%" PRIu64 " without_fingerprint=%" PRIu64 " left_out=%" PRIu64 " damaged=%" PRIu64
			   " bytes=%" PRIu64,
		      c->skipped[PD_SKIP_NONE], c->without_fingerprint, left_out(c), damaged(c), c->input.bytes_read);
	if (c->barren)
		pd_buf_printf(out, " inputs_without_pages=%" PRIu64, c->barren);
	pd_buf_add_c(out, '\n');
}

int pd_walk_stats(const struct pd_walk_counts *c, const char *path, struct pd_err *e)
{
	struct pd_outfile f;
	int status = pd_outfile_open(&f, path, e);
	if (status)
		return status;
	struct pd_json *j = pd_json_new(), *skip = pd_json_new(), *stub = pd_json_new(), *cpu = pd_json_new();
	struct pd_buf out = { 0 };
	pd_json_int(j, "pages", (int64_t)c->skipped[PD_SKIP_NONE]);
	pd_json_int(j, "without_fingerprint", (int64_t)c->without_fingerprint);
	for (int s = PD_SKIP_NONE + 1; s < PD_SKIP_COUNT; s++)
		pd_json_int(skip, pd_skip_name((enum pd_skip)s), (int64_t)c->skipped[s]);
	for (int s = PD_STUB_NONE + 1; s < PD_STUBS; s++)
		pd_json_int(stub, pd_stub_name((enum pd_stub)s), (int64_t)c->stubs[s]);
	pd_json_object(j, "not_matched", stub);
	pd_json_object(j, "left_out", skip);
	pd_json_int(j, "damaged", (int64_t)damaged(c));
	pd_json_int(j, "inputs_without_pages", (int64_t)c->barren);
	pd_json_int(j, "other_names", (int64_t)c->input.aliases);
	pd_json_int(j, "records", (int64_t)c->input.records);
	pd_json_int(j, "files", (int64_t)c->input.files);
	pd_json_int(j, "bytes_read", (int64_t)c->input.bytes_read);
	pd_json_real(j, "elapsed_seconds", c->elapsed);
	pd_json_real(j, "cpu_seconds", pd_cpu_seconds());
	for (int p = 0; p < PD_PHASES; p++)
		pd_json_real(cpu, pd_phase_names[p], c->seconds[p]);
	pd_json_object(j, "cpu_seconds_by_phase", cpu);
	pd_json_write(j, &out);
	fprintf(f.f, "%s\n", out.p);
	pd_buf_release(&out);
	pd_json_free(j);
	return pd_outfile_commit(&f, e);
}

static uint64_t stubs(const struct pd_walk_counts *c)
{
	uint64_t n = 0;
	for (int s = PD_STUB_NONE + 1; s < PD_STUBS; s++)
		n += c->stubs[s];
	return n;
}

/* Pages that are no page's text: "3 not to be matched (redirect 2, error-page 1)". */
static void say_stubs(const struct pd_walk_counts *c, struct pd_buf *line)
{
	const char *sep = " (";
	pd_buf_printf(line, ", %" PRIu64 " not to be matched", stubs(c));
	for (int s = PD_STUB_NONE + 1; s < PD_STUBS; s++) {
		if (!c->stubs[s])
			continue;
		pd_buf_printf(line, "%s%s %" PRIu64, sep, pd_stub_name((enum pd_stub)s), c->stubs[s]);
		sep = ", ";
	}
	pd_buf_add_c(line, ')');
}

static void say_left_out(const struct pd_walk_counts *c, struct pd_buf *line)
{
	const char *sep = " (";
	pd_buf_add_z(line, ", ");
	pd_buf_count(line, left_out(c), "record");
	pd_buf_add_z(line, " left out");
	for (int s = PD_SKIP_NONE + 1; s < PD_SKIP_COUNT; s++) {
		if (s == PD_SKIP_DAMAGED || !c->skipped[s])
			continue;
		pd_buf_printf(line, "%s%s %" PRIu64, sep, pd_skip_name((enum pd_skip)s), c->skipped[s]);
		sep = ", ";
	}
	if (sep[0] == ',')
		pd_buf_add_c(line, ')');
}

bool pd_walk_close(const struct pd_walk_counts *c, struct pd_log *log)
{
	struct pd_buf line = { 0 }, says = { 0 };
	pd_buf_count(&line, c->skipped[PD_SKIP_NONE], "page");
	if (c->without_fingerprint > stubs(c))
		pd_buf_printf(&line, ", %" PRIu64 " too short for a fingerprint", c->without_fingerprint - stubs(c));
	if (stubs(c))
		say_stubs(c, &line);
	if (left_out(c))
		say_left_out(c, &line);
	if (damaged(c))
		pd_buf_printf(&line, ", %" PRIu64 " damaged", damaged(c));
	if (c->input.aliases) {
		pd_buf_add_z(&line, ", ");
		pd_buf_count(&line, c->input.aliases, "further name");
		pd_buf_add_z(&line, " of files read already");
	}
	if (c->input.mirrored) {
		pd_buf_clear(&says);
		pd_buf_count(&says, c->input.mirrored, "record");
		pd_log_note(log, "the URLs of %s are taken from their paths, HOST/PATH as wget and HTTrack lay mirrors out", says.p);
	}
	pd_log_note(log, "%s, %.1f s", line.p, c->elapsed);
	pd_buf_release(&says);
	pd_buf_release(&line);
	return damaged(c) > 0 || c->barren > 0;
}
