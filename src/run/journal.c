/* SPDX-License-Identifier: MIT */
#include "run/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/opt.h"
#include "base/tsv.h"

char *pd_dedup_folder_path(const char *folder, const char *name)
{
	struct pd_buf path = { 0 };
	pd_buf_printf(&path, "%s/%s", folder, name);
	return path.p;
}

#define FIRST_LINE "pagededup dedup 2"
#define FIRST_LINE_1 "pagededup dedup 1" /* without the files of steps: its options can be read, and it cannot be continued */

static int read_journal(struct pd_journal *j, struct pd_err *e)
{
	struct pd_pieces in = { .f = fopen(j->path, "re"), .name = j->path, .left = UINT64_MAX };
	struct pd_span piece;
	int status;
	if (!in.f)
		return errno == ENOENT ? PD_OK : pd_fail_errno(e, "cannot read %s", j->path);
	while ((status = pd_pieces_next(&in, &piece, e)) == 1)
		pd_buf_add_span(&j->text, piece);
	fclose(in.f);
	if (status)
		return status;
	/* Remove files that were being written when the run was killed. */
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
	uint64_t *const sums[] = { &s->pages, &s->removed_with_page, &s->bytes_in, &s->bytes_out, &s->rewritten, &s->lost };
	struct pd_buf label = { 0 };
	uint64_t n;
	bool ok = true;
	for (size_t i = 0; ok && i < sizeof sums / sizeof *sums; i++) {
		ok = parse_number(&rest, &n);
		*sums[i] += ok ? n : 0;
	}
	ok = ok && rest.p && pd_tsv_value(rest, &label) == PD_OK;
	if (ok)
		pd_map_add(&j->outputs, pd_map_key(pd_buf_span(&label)));
	s->inputs += ok;
	pd_buf_release(&label);
	return ok;
}

/* --- files of a step --- */

/* A hard link to an input has no checksum: it is the input. */
#define NO_CHECKSUM "-"

/* Appends "SIZE CHECKSUM" of the regular file at `path`: 1; 0: there is no such file.  The checksum is XXH3-128. */
static int describe_file(const char *path, bool linked, struct pd_buf *out, struct pd_err *e)
{
	struct stat st;
	int status = PD_OK, there = pd_stat_path(path, &st, e);
	if (there <= 0 || !S_ISREG(st.st_mode))
		return there < 0 ? there : 0;
	pd_buf_printf(out, "%" PRIu64 " ", (uint64_t)st.st_size);
	if (linked) {
		pd_buf_add_z(out, NO_CHECKSUM);
		return 1;
	}
	struct pd_pieces in = { .f = fopen(path, "re"), .name = path, .left = UINT64_MAX };
	struct pd_span piece;
	uint64_t sum[2];
	if (!in.f)
		return pd_fail_errno(e, "cannot read %s", path);
	struct pd_hasher *h = pd_hasher_new();
	while ((status = pd_pieces_next(&in, &piece, e)) == 1)
		pd_hasher_add(h, piece.p, piece.n);
	pd_hasher_end(h, sum);
	pd_hasher_free(h);
	fclose(in.f);
	pd_buf_printf(out, "%016" PRIx64 "%016" PRIx64, sum[0], sum[1]);
	return status ? status : 1;
}

/* Check whether the file of this line, "SIZE CHECKSUM NAME", is unchanged: 1, 0 or negative.  `name` is set.
 * `ended`: intermediate files are removed. */
static int is_as_written(const char *folder, bool ended, struct pd_span line, struct pd_buf *name, struct pd_err *e)
{
	struct pd_span rest = line, size, sum;
	struct pd_buf now = { 0 };
	pd_span_split(&rest, ' ', &size);
	pd_span_split(&rest, ' ', &sum);
	if (!rest.p || pd_tsv_value(rest, name))
		return 0;
	if (ended && !strncmp(pd_buf_z(name), ".dedup/", 7))
		return 1;
	char *path = pd_dedup_folder_path(folder, pd_buf_z(name));
	int r = describe_file(path, pd_span_is(sum, NO_CHECKSUM), &now, e);
	free(path);
	size_t n = (size_t)(sum.p + sum.n - line.p);
	if (r > 0)
		r = pd_span_eq(pd_buf_span(&now), pd_span(line.p, n));
	pd_buf_release(&now);
	return r;
}

int pd_journal_add_file(struct pd_journal *j, const char *folder, const char *name, bool linked, struct pd_err *e)
{
	struct pd_buf line = { 0 };
	char *path = pd_dedup_folder_path(folder, name);
	int r = describe_file(path, linked, &line, e);
	free(path);
	pd_buf_add_c(&line, ' ');
	pd_tsv_add(&line, pd_span_z(name));
	if (r > 0)
		fprintf(j->f, "file %s\n", line.p);
	pd_buf_release(&line);
	return r < 0 ? r : PD_OK;
}

/* The steps after a damaged one are done again, too: they were made from its files.  When a run has ended, its intermediate files are
 * removed: then all steps are done again. */
struct checking {
	const char *folder;
	struct pd_log *log;
	bool ended;
	size_t head; /* bytes of the journal before the first step */
	size_t kept; /* … of steps whose files are unchanged */
};

static bool is_step(struct pd_span line)
{
	static const char *const steps[] = { "rows", "units", "against", "pairs", "verdicts", "output", "end" };
	struct pd_span word;
	bool found = false;
	pd_span_split(&line, ' ', &word);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		found |= pd_span_is(word, steps[i]);
	return found;
}

/* A file of a step: 1, 0 or negative. */
static int check_file(struct checking *c, struct pd_span line, struct pd_err *e)
{
	struct pd_buf name = { 0 };
	int good = is_as_written(c->folder, c->ended, line, &name, e);
	if (!good)
		pd_log_note(c->log, "%s/%s is missing, or is not what the run wrote: %s", c->folder, pd_buf_z(&name),
			    c->ended ? "the run is done again" : "the run continues before that step");
	pd_buf_release(&name);
	return good;
}

static int check_steps(struct checking *c, struct pd_span text, struct pd_err *e)
{
	static const char file[] = "file ";
	struct pd_span rest = text, line;
	bool begun = false;
	int good = 1;
	while (good > 0 && rest.n && pd_span_split(&rest, '\n', &line)) {
		bool is_file = line.n >= sizeof file - 1 && !memcmp(line.p, file, sizeof file - 1);
		begun |= is_file || is_step(line);
		if (is_file)
			good = check_file(c, pd_span(line.p + sizeof file - 1, line.n - (sizeof file - 1)), e);
		else
			c->kept = (size_t)(line.p + line.n + 1 - text.p);
		if (!begun)
			c->head = c->kept;
	}
	if (!good && c->ended)
		c->kept = c->head;
	return good < 0 ? good : PD_OK;
}

/* Cut the journal before the first step whose files differ from its lines. */
static int drop_damaged_steps(struct pd_journal *j, const char *folder, struct pd_log *log, struct pd_err *e)
{
	static const char end[] = "\nend\n";
	struct checking c = { .folder = folder, .log = log };
	c.ended = j->text.n >= sizeof end - 1 && !memcmp(j->text.p + j->text.n - (sizeof end - 1), end, sizeof end - 1);
	int status = check_steps(&c, pd_buf_span(&j->text), e);
	if (!status && j->text.p)
		j->text.p[j->text.n = c.kept] = 0;
	return status;
}

/* --- lines --- */

static void note_rows(struct pd_journal *j, uint64_t identity)
{
	j->rows = pd_grow(j->rows, j->n_rows, &j->cap_rows, sizeof *j->rows);
	j->rows[j->n_rows++] = identity;
}

static bool parse_rows(struct pd_journal *j, struct pd_span rest)
{
	uint64_t n, identity;
	/* After this number is written, no rows follow. */
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
	if (pd_span_is(word, "options") != !j->options.n) /* once, and before the first step */
		return false;
	if (pd_span_is(word, "file"))
		return true;
	if (pd_span_is(word, "options"))
		return parse_options(j, line);
	if (pd_span_is(word, "rows"))
		return parse_rows(j, line);
	else if (pd_span_is(word, "units"))
		return parse_number(&line, &n) && (j->n_units = (size_t)n) == j->n_rows;
	else if (pd_span_is(word, "against"))
		return parse_number(&line, &j->against) && j->against;
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
			ok = pd_span_is(line, FIRST_LINE) || pd_span_is(line, FIRST_LINE_1);
		else
			ok = parse_step(j, line);
		first = false;
	}
	return ok ? PD_OK : pd_fail(e, PD_ERR_FORMAT, "%s cannot be read: delete the folder and start again", j->path);
}

static int compare_options(const struct pd_journal *j, struct pd_span options, struct pd_err *e)
{
	struct pd_buf differ = { 0 }, typed = { 0 };
	pd_params_differ(pd_buf_span(&j->options), options, &differ);
	pd_opt_unquote(pd_buf_span(&differ), &typed);
	int status = !differ.n ? PD_OK
			       : pd_fail(e, PD_ERR_PARAMS, "the run in %s had other options (%s): give the same ones", j->path,
					 pd_buf_z(&typed));
	pd_buf_release(&differ);
	pd_buf_release(&typed);
	return status;
}

/* A new journal, or the old one, continued after its last complete line. */
static int open_to_write(struct pd_journal *j, struct pd_span options, struct pd_err *e)
{
	bool fresh = !j->options.n;
	j->f = fopen(j->path, fresh ? "we" : "r+e");
	if (!j->f)
		return pd_fail_errno(e, "cannot write %s", j->path);
	if (fresh) {
		int status = pd_journal_add(j, e, FIRST_LINE "\noptions %.*s", (int)options.n, options.p);
		return status ? status : pd_sync_folder_of(j->path, e);
	}
	if (ftruncate(fileno(j->f), (off_t)j->text.n) < 0 || fseek(j->f, 0, SEEK_END) < 0)
		return pd_fail_errno(e, "cannot write %s", j->path);
	return pd_journal_sync(j, e);
}

static int refuse_old(const struct pd_journal *j, struct pd_err *e)
{
	bool old = j->text.n >= sizeof FIRST_LINE_1 && !memcmp(j->text.p, FIRST_LINE_1 "\n", sizeof FIRST_LINE_1);
	return old ? pd_fail(e, PD_ERR_PARAMS,
			     "%s was written by an older version, and cannot be continued: start again in another folder", j->path)
		   : PD_OK;
}

int pd_journal_open(struct pd_journal *j, const char *path, const char *folder, struct pd_span options, struct pd_log *log,
		    struct pd_err *e)
{
	*j = (struct pd_journal){ .path = pd_strdup(path) };
	int status = read_journal(j, e);
	if (!status)
		status = refuse_old(j, e);
	if (!status)
		status = drop_damaged_steps(j, folder, log, e);
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
	if (fputc('\n', j->f) == EOF)
		return pd_fail_errno(e, "cannot write %s", j->path);
	return pd_journal_sync(j, e);
}

int pd_journal_sync(struct pd_journal *j, struct pd_err *e)
{
	if (fflush(j->f) != 0 || ferror(j->f) || (fdatasync(fileno(j->f)) && errno != EINVAL && errno != EROFS))
		return pd_fail_errno(e, "cannot write %s", j->path);
	return PD_OK;
}

int pd_journal_add_rows(struct pd_journal *j, uint64_t identity, struct pd_err *e)
{
	note_rows(j, identity);
	return pd_journal_add(j, e, "rows %zu %" PRIu64, j->n_rows - 1, identity);
}

void pd_journal_add_output(struct pd_journal *j, const struct pd_apply_result *done, const char *input)
{
	struct pd_journal_sums *s = &j->sums;
	struct pd_buf label = { 0 };
	s->inputs++;
	s->pages += done->pages;
	s->removed_with_page += done->removed_with_page;
	s->bytes_in += done->bytes_in;
	s->bytes_out += done->bytes_out;
	s->rewritten += done->rewritten;
	s->lost += done->lost;
	pd_tsv_add(&label, pd_span_z(input));
	fprintf(j->f, "output %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", done->pages,
		done->removed_with_page, done->bytes_in, done->bytes_out, done->rewritten, done->lost, label.p);
	pd_buf_release(&label);
}
