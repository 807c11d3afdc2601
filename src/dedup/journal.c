/* SPDX-License-Identifier: MIT */
#include "dedup/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fields.h"
#include "base/hash.h"
#include "base/tsv.h"

#define FIRST_LINE "pagededup dedup 1"

static int read_journal(struct pd_journal *j, struct pd_err *e)
{
	char piece[4096];
	size_t n;
	FILE *f = fopen(j->path, "re");
	if (!f && errno == ENOENT)
		return PD_OK;
	if (!f)
		return pd_fail_errno(e, "cannot read %s", j->path);
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		pd_buf_add(&j->text, piece, n);
	bool bad = ferror(f);
	fclose(f);
	if (bad)
		return pd_fail_errno(e, "cannot read %s", j->path);
	/* What was being written when the run died. */
	while (j->text.n && j->text.p[j->text.n - 1] != '\n')
		j->text.n--;
	return PD_OK;
}

static bool parse_number(struct pd_span *rest, uint64_t *out)
{
	struct pd_span word;
	return pd_span_split(rest, ' ', &word) && pd_span_u64(word, out);
}

static bool parse_output(struct pd_journal *j, struct pd_span rest)
{
	struct pd_journal_sums *s = &j->sums;
	uint64_t *const sums[] = { &s->pages, &s->along, &s->bytes_in, &s->bytes_out, &s->rewritten, &s->lost };
	struct pd_buf label = { 0 };
	uint64_t n;
	bool ok = true;
	for (size_t i = 0; ok && i < sizeof sums / sizeof *sums; i++) {
		ok = parse_number(&rest, &n);
		*sums[i] += ok ? n : 0;
	}
	ok = ok && rest.p && pd_tsv_value(rest, &label) == PD_OK;
	if (ok)
		pd_map_add(&j->outputs, pd_hash64(label.p, label.n));
	s->inputs += ok;
	pd_buf_release(&label);
	return ok;
}

static void note_rows(struct pd_journal *j, uint64_t identity)
{
	j->rows = pd_grow(j->rows, j->n_rows, &j->cap_rows, sizeof *j->rows);
	j->rows[j->n_rows++] = identity;
}

static bool parse_rows(struct pd_journal *j, struct pd_span rest)
{
	uint64_t n, identity;
	/* Once their number stands there, no rows follow. */
	if (j->n_units || !parse_number(&rest, &n) || n != j->n_rows || !parse_number(&rest, &identity))
		return false;
	note_rows(j, identity);
	return true;
}

static bool parse_options(struct pd_journal *j, struct pd_span rest)
{
	pd_buf_set(&j->options, rest);
	return rest.n;
}

static bool parse_step(struct pd_journal *j, struct pd_span line)
{
	struct pd_span word;
	uint64_t n = 0;
	pd_span_split(&line, ' ', &word);
	if (pd_span_is(word, "options") != !j->options.n)	/* once, and before the first step */
		return false;
	if (pd_span_is(word, "options"))
		return parse_options(j, line);
	if (pd_span_is(word, "rows"))
		return parse_rows(j, line);
	else if (pd_span_is(word, "units"))
		return parse_number(&line, &n) && (j->n_units = (size_t)n) == j->n_rows;
	else if (pd_span_is(word, "pairs"))
		j->pairs = true;
	else if (pd_span_is(word, "verdicts"))
		j->verdicts = true;
	else if (pd_span_is(word, "output"))
		return parse_output(j, line);
	else if (pd_span_is(word, "end"))
		j->end = true;
	else
		return false;
	return true;
}

static int parse_journal(struct pd_journal *j, struct pd_err *e)
{
	struct pd_span rest = pd_buf_span(&j->text), line;
	bool first = true, ok = true;
	while (ok && rest.n && pd_span_split(&rest, '\n', &line)) {
		if (first)
			ok = pd_span_is(line, FIRST_LINE);
		else
			ok = parse_step(j, line);
		first = false;
	}
	return ok ? PD_OK : pd_fail(e, PD_ERR_FORMAT, "%s cannot be read: delete the folder and start again", j->path);
}

static int compare_options(const struct pd_journal *j, struct pd_span options, struct pd_err *e)
{
	struct pd_buf differ = { 0 };
	pd_params_differ(pd_buf_span(&j->options), options, &differ);
	int status = !differ.n ? PD_OK :
				 pd_fail(e, PD_ERR_PARAMS, "the run in %s had other options (%s): give the same ones", j->path, differ.p);
	pd_buf_release(&differ);
	return status;
}

/* A new journal, or the old one behind its last whole line. */
static int open_to_write(struct pd_journal *j, struct pd_span options, struct pd_err *e)
{
	bool fresh = !j->options.n;
	j->f = fopen(j->path, fresh ? "we" : "r+e");
	if (!j->f)
		return pd_fail_errno(e, "cannot write %s", j->path);
	if (fresh)
		return pd_journal_add(j, e, FIRST_LINE "\noptions %.*s", (int)options.n, options.p);
	if (ftruncate(fileno(j->f), (off_t)j->text.n) < 0 || fseek(j->f, 0, SEEK_END) < 0)
		return pd_fail_errno(e, "cannot write %s", j->path);
	return PD_OK;
}

int pd_journal_open(struct pd_journal *j, const char *path, struct pd_span options, struct pd_err *e)
{
	*j = (struct pd_journal){ .path = pd_strdup(path) };
	int status = read_journal(j, e);
	if (!status)
		status = parse_journal(j, e);
	if (!status && j->options.n)
		status = compare_options(j, options, e);
	return status ? status : open_to_write(j, options, e);
}

int pd_journal_options(const char *path, struct pd_buf *out, struct pd_err *e)
{
	struct pd_journal j = { .path = pd_strdup(path) };
	int status = read_journal(&j, e);
	if (!status && !j.text.n)
		status = pd_fail(e, PD_ERR_NOT_FOUND, "%s does not exist: name the folder of a run of dedup", path);
	if (!status)
		status = parse_journal(&j, e);
	if (!status)
		pd_buf_set(out, pd_buf_span(&j.options));
	pd_journal_release(&j);
	return status;
}

void pd_journal_release(struct pd_journal *j)
{
	if (j->f)
		fclose(j->f);
	free(j->path);
	free(j->rows);
	pd_buf_release(&j->text);
	pd_buf_release(&j->options);
	pd_map_release(&j->outputs);
}

int pd_journal_add(struct pd_journal *j, struct pd_err *e, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vfprintf(j->f, format, args);
	va_end(args);
	if (fputc('\n', j->f) == EOF || fflush(j->f) != 0 || ferror(j->f))
		return pd_fail_errno(e, "cannot write %s", j->path);
	return PD_OK;
}

int pd_journal_add_rows(struct pd_journal *j, uint64_t identity, struct pd_err *e)
{
	note_rows(j, identity);
	return pd_journal_add(j, e, "rows %zu %" PRIu64, j->n_rows - 1, identity);
}

int pd_journal_add_output(struct pd_journal *j, const struct pd_apply_result *done, struct pd_err *e)
{
	struct pd_journal_sums *s = &j->sums;
	struct pd_buf label = { 0 };
	s->inputs++;
	s->pages += done->pages;
	s->along += done->along;
	s->bytes_in += done->bytes_in;
	s->bytes_out += done->bytes_out;
	s->rewritten += done->rewritten;
	s->lost += done->lost;
	pd_tsv_add(&label, pd_span_z(done->file->label));
	int status = pd_journal_add(j, e, "output %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s",
				    done->pages, done->along, done->bytes_in, done->bytes_out, done->rewritten, done->lost, label.p);
	pd_buf_release(&label);
	return status;
}
