/* SPDX-License-Identifier: MIT
 *
 * The kind of an input is recognised by its first decompressed bytes.  These may be damaged: then it is recognised as a
 * dump by a later member with a record in the first window.  The ids of records of all kinds are made here.
 */
#include "read/source.h"

#ifndef PD_WITHOUT_libarchive
#include <archive.h>
#include <archive_entry.h>
#endif
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/parquet.h"

/* ==== JSON Lines ==== */

/* A line is parsed in place in the window; it is copied only if it spans its edge. */

/* A page with every byte escaped has twice the length, or six times if it consists of control characters.  A line over
 * four times the page limit cannot be a usable page. */
enum { LINE_FACTOR = 4, KEEP = 1 << 22, LOOK = 16 };

static void jsonl_init(struct pd_read_jsonl *j, const struct pd_read_jsonl_fields *f, size_t max_block)
{
	*j = (struct pd_read_jsonl){ .max_block = max_block };
	j->max_line = max_block < SIZE_MAX / LINE_FACTOR ? max_block * LINE_FACTOR : SIZE_MAX;
	j->fields[PD_JSONL_URL].name = f->url ? f->url : "url";
	j->fields[PD_JSONL_TEXT].name = f->text ? f->text : "text";
	j->fields[PD_JSONL_HTML].name = f->html ? f->html : "html";
	j->fields[PD_JSONL_ID].name = f->id ? f->id : "id";
	j->fields[PD_JSONL_TIME].name = "fetch_time";
}

static void jsonl_release(struct pd_read_jsonl *j)
{
	for (int i = 0; i < PD_JSONL_FIELDS; i++)
		pd_buf_release(&j->fields[i].value);
	pd_buf_release(&j->line);
	pd_buf_release(&j->names);
}

static void jsonl_open(struct pd_read_jsonl *j, struct pd_read_member *m)
{
	j->m = m;
	j->over = false;
	j->useful = j->lines = 0;
	pd_buf_clear(&j->names);
	pd_buf_shrink(&j->line, KEEP);
}

/* Record the members of a line without text or HTML, and the longest string among them. */
static void record_members(struct pd_read_jsonl *j, struct pd_span line)
{
	struct pd_buf names = { 0 }, longest = { 0 };
	bool markup;
	if (!pd_json_survey(line, &names, &longest, &markup))
		return;
	pd_buf_printf(&j->names, "no field \"%s\" or \"%s\" (found: %s)", j->fields[PD_JSONL_TEXT].name,
		      j->fields[PD_JSONL_HTML].name, names.n ? names.p : "none");
	if (longest.n)
		pd_buf_printf(&j->names, ": use --field-%s=%s", markup ? "html" : "text", longest.p);
	pd_buf_release(&names);
	pd_buf_release(&longest);
}

/* At the end: return NULL, or why no line was a page, and the remedy. */
static const char *explain_no_page(const struct pd_read_jsonl *j)
{
	return j->lines && !j->useful && j->names.n ? j->names.p : NULL;
}

static int jsonl_damage(struct pd_read_jsonl *j, struct pd_read_place place, const char *reason)
{
	j->place = place;
	j->reason = reason;
	j->over = false;
	pd_buf_shrink(&j->line, KEEP);
	return PD_ERR_INPUT;
}

static struct pd_read_place here(const struct pd_read_jsonl *j)
{
	return (struct pd_read_place){ pd_read_member_offset(j->m), pd_read_member_packed(j->m) };
}

static void set_block(struct pd_read_jsonl *j, struct pd_record *out, struct pd_span page)
{
	size_t most = j->wants && !j->wants(j->wants_ctx, j->place) ? 0 : j->max_block;
	out->length = page.n;
	out->cut = page.n > most;
	pd_buf_add(&out->block, page.p, out->cut ? most : page.n);
}

static bool fill_jsonl_record(struct pd_read_jsonl *j, struct pd_span line, struct pd_record *out)
{
	const struct pd_json_member *f = j->fields, *html = &f[PD_JSONL_HTML], *text = &f[PD_JSONL_TEXT];
	pd_record_clear(out);
	if (!pd_json_members(line, j->fields, PD_JSONL_FIELDS))
		return false;
	if (f[PD_JSONL_URL].present)
		pd_buf_add_span(&out->url, pd_buf_span(&f[PD_JSONL_URL].value));
	if (f[PD_JSONL_ID].present)
		pd_buf_add_span(&out->user_id, pd_buf_span(&f[PD_JSONL_ID].value));
	if (f[PD_JSONL_TIME].present)
		pd_buf_add_span(&out->fetch_time, pd_buf_span(&f[PD_JSONL_TIME].value));
	if (html->present && (html->value.n || !text->present)) {
		out->kind = PD_RECORD_PAYLOAD;
		pd_buf_add_z(&out->content_type, "text/html; charset=utf-8");
		set_block(j, out, pd_buf_span(&html->value));
	} else if (text->present) {
		out->kind = PD_RECORD_TEXT;
		set_block(j, out, pd_buf_span(&text->value));
	} else {
		out->length = line.n;
		if (!j->useful && !j->names.n)
			record_members(j, line);
	}
	j->lines++;
	j->useful += out->kind != PD_RECORD_OTHER;
	return true;
}

/* Remove white space, and the mark that some editors write at the start of a file. */
static struct pd_span trim_line(struct pd_span line)
{
	if (line.n >= 3 && memcmp(line.p, "\xef\xbb\xbf", 3) == 0)
		line = pd_span(line.p + 3, line.n - 3);
	return pd_span_trim(line);
}

/* Refill the empty window.  Return 1 if the next member continues; 0: the end; PD_ERR_INPUT; the current line began at
 * `begin`. */
static int refill_window(struct pd_read_jsonl *j, struct pd_read_place begin)
{
	struct pd_read_member *m = j->m;
	const char *reason = m->state == PD_MEMBER_BROKEN ? m->reason : NULL;
	int r = reason ? PD_ERR_INPUT : pd_read_member_next(m);
	if (r >= 0)
		return r;
	if (!reason)
		reason = m->reason;
	pd_read_member_resync(m);
	return jsonl_damage(j, begin, reason);
}

static void keep(struct pd_read_jsonl *j, struct pd_span part)
{
	if (part.n > j->max_line - j->line.n)
		j->over = true;
	else
		pd_buf_add_span(&j->line, part);
	pd_read_member_skip(j->m, part.n);
}

/* Return a line, or a copy of it if it spans the window's edge; the caller must skip *skip bytes of the window. */
static int next_jsonl_line(struct pd_read_jsonl *j, struct pd_read_place begin, struct pd_span *line, size_t *skip)
{
	for (;;) {
		struct pd_span s = pd_read_member_peek(j->m, 1);
		const char *end = s.n ? memchr(s.p, '\n', s.n) : NULL;
		*skip = end ? (size_t)(end - s.p) + 1 : 0;
		if (end && !j->line.n && !j->over && *skip <= j->max_line) {
			*line = pd_span(s.p, *skip);
			return 1;
		}
		keep(j, end ? pd_span(s.p, *skip) : s);
		*skip = 0;
		int r = s.n ? 1 : refill_window(j, begin);
		if (r < 0)
			return r;
		if (end || !r) {
			*line = pd_buf_span(&j->line);
			return end || j->line.n || j->over;
		}
	}
}

/* Returns as pd_read_dump_next. */
static int jsonl_next(struct pd_read_jsonl *j, struct pd_record *out)
{
	for (;;) {
		struct pd_read_place begin = here(j);
		struct pd_span line;
		size_t skip;
		pd_buf_shrink(&j->line, KEEP);
		int r = next_jsonl_line(j, begin, &line, &skip);
		if (r <= 0)
			return r;
		if (j->over)
			return jsonl_damage(j, begin, "line over four times the page limit");
		line = trim_line(line);
		j->place = begin;
		bool empty = !line.n, ok = !empty && fill_jsonl_record(j, line, out);
		pd_read_member_skip(j->m, skip);
		if (ok)
			return 1;
		if (!empty)
			return jsonl_damage(j, begin, "line that is not a JSON object in UTF-8");
	}
}

/* Return whether a first line that is longer than the window has a member with a known name. */
static bool names_field(const struct pd_read_jsonl *j, struct pd_span s)
{
	for (int i = 0; i < PD_JSONL_FIELDS; i++) {
		size_t n = strlen(j->fields[i].name);
		for (struct pd_span rest = s; rest.n > n + 2;) {
			ptrdiff_t at = pd_span_find(rest, pd_span(j->fields[i].name, n));
			if (at < 1)
				break;
			const char *p = rest.p + at;
			rest = pd_span(p + n, rest.n - (size_t)at - n);
			struct pd_span after = rest.n ? pd_span_trim(pd_span(rest.p + 1, rest.n - 1)) : rest;
			if (p[-1] == '"' && rest.n && rest.p[0] == '"' && after.n && after.p[0] == ':')
				return true;
		}
	}
	return false;
}

/* Some files have comments, null and other values before the first object. */
static bool may_come_first(struct pd_span line)
{
	static const char *const begin[] = { "#", "//", "null", "true", "false", "[", "\"", NULL };
	for (int i = 0; begin[i]; i++)
		if (pd_span_istarts(line, begin[i]))
			return !memchr(line.p, '<', line.n);
	return line.n && line.p[0] == '{';
}

static bool any_field(const struct pd_read_jsonl *j)
{
	for (int i = 0; i < PD_JSONL_FIELDS; i++)
		if (j->fields[i].present)
			return true;
	return false;
}

/* Return whether it is JSONL: one of its first lines is an object with one of the fields, or two of them are any
 * objects.  `more`: it continues. */
static bool is_jsonl(struct pd_read_jsonl *j, struct pd_span head, bool more)
{
	int objects = 0;
	head = trim_line(head);
	for (int i = 0; i < LOOK && head.n; i++) {
		const char *end = memchr(head.p, '\n', head.n);
		if (!end && more)
			return head.p[0] == '{' && names_field(j, head);
		struct pd_span line = pd_span(head.p, end ? (size_t)(end - head.p) : head.n);
		if (!may_come_first(line))
			return false;
		if (line.p[0] == '{' && pd_json_members(line, j->fields, PD_JSONL_FIELDS)) {
			/* Two objects are lines of JSONL, whatever their fields; one without known fields may be any
			 * JSON file. */
			if (any_field(j) || ++objects == 2)
				return true;
		}
		head = trim_line(pd_span(line.p + line.n, head.n - line.n));
	}
	return false;
}

/* ==== tar archives ==== */

/* Only this code includes libarchive.  It reads the bytes of members of member.h, so that compression, damage and
 * memory limits are the same as for other inputs. */

enum { PIECE = 1 << 16, HEADER = 512, CHECKSUM = 148 };

#ifndef PD_WITHOUT_libarchive

static la_ssize_t pull_from_member(struct archive *a, void *ctx, const void **bytes)
{
	struct pd_read_tar *t = ctx;
	pd_read_member_skip(t->m, t->given);
	t->given = 0;
	for (;;) {
		struct pd_span s = pd_read_member_peek(t->m, 1);
		if (s.n) {
			*bytes = s.p;
			t->given = s.n;
			return (la_ssize_t)s.n;
		}
		int r = t->m->state == PD_MEMBER_BROKEN ? PD_ERR_INPUT : pd_read_member_next(t->m);
		if (r == 1)
			continue;
		t->stopped = r < 0 ? t->m->reason : NULL;
		return 0;
	}
}

static void tar_close(struct pd_read_tar *t)
{
	archive_read_free(t->archive);
	t->archive = NULL;
	t->given = 0;
	t->begin = 0;
	t->ended = false;
	t->stopped = NULL;
	t->lost = false;
	pd_map_release(&t->names);
	pd_buf_clear(&t->reason);
}

static void tar_open(struct pd_read_tar *t, struct pd_read_member *m, size_t max_block)
{
	tar_close(t);
	t->m = m;
	t->max_block = max_block;
	t->archive = pd_check_alloc(archive_read_new());
	archive_read_support_format_tar(t->archive);
	t->done = archive_read_open(t->archive, t, NULL, pull_from_member, NULL) != ARCHIVE_OK;
}

static void tar_release(struct pd_read_tar *t)
{
	tar_close(t);
	pd_buf_release(&t->name);
	pd_buf_release(&t->reason);
}

static int tar_damage(struct pd_read_tar *t, const char *reason)
{
	const char *more = t->stopped ? t->stopped : archive_error_string(t->archive);
	int64_t at = archive_read_header_position(t->archive);
	pd_buf_clear(&t->reason);
	pd_buf_add_z(&t->reason, reason);
	if (more)
		pd_buf_printf(&t->reason, ": %s", more);
	t->place = (struct pd_read_place){ at > 0 ? (uint64_t)at : t->begin, pd_read_member_packed(t->m) };
	return PD_ERR_INPUT;
}

/* Names are bytes; only names that a pax header has in UTF-8 must be requested in UTF-8. */
static const char *path_of(struct archive_entry *entry)
{
	const char *path = archive_entry_pathname_utf8(entry);
	return path ? path : archive_entry_pathname(entry);
}

static void set_name(struct pd_read_tar *t, const char *path)
{
	pd_buf_clear(&t->name);
	pd_buf_add_z(&t->name, path);
	while (!pd_map_add(&t->names, pd_map_key(pd_buf_span(&t->name))))
		pd_buf_printf(&t->name, "!%lld", (long long)archive_read_header_position(t->archive));
}

static int read_tar_block(struct pd_read_tar *t, struct pd_record *out)
{
	size_t most = t->wants && !t->wants(t->wants_ctx, pd_buf_z(&t->name)) ? 0 : t->max_block;
	while (out->block.n < most && out->block.n < out->length) {
		size_t room = most - out->block.n;
		char *at = pd_buf_reserve(&out->block, room < PIECE ? room : PIECE);
		la_ssize_t n = archive_read_data(t->archive, at, room < PIECE ? room : PIECE);
		if (n < 0) {
			t->done = true;
			return tar_damage(t, "tar archive cut or damaged");
		}
		if (!n)
			break;
		out->block.n += (size_t)n;
		out->block.p[out->block.n] = 0;
	}
	out->cut = out->block.n < out->length;
	return 1;
}

static int read_file(struct pd_read_tar *t, struct archive_entry *entry, const char *path, struct pd_record *out)
{
	int64_t size = archive_entry_size(entry);
	pd_record_clear(out);
	t->begin = (uint64_t)archive_read_header_position(t->archive);
	t->ended = false;
	out->kind = PD_RECORD_PAYLOAD;
	pd_buf_add_z(&out->url, path);
	set_name(t, path);
	out->length = size > 0 ? (uint64_t)size : 0;
	return read_tar_block(t, out);
}

/* There is no entry: the end, or a position without a header. */
static int no_entry(struct pd_read_tar *t, int status)
{
	if (status == ARCHIVE_RETRY) {
		bool reported = t->lost;
		t->lost = true;
		return reported ? 1 : tar_damage(t, "damaged tar header");
	}
	t->done = true;
	return status == ARCHIVE_EOF && !t->stopped ? 0 : tar_damage(t, "tar archive cut or damaged");
}

/* Set the end of the last file: the start of the next entry of any kind; if the archive is cut before that, the end of
 * the data. */
static void note_end(struct pd_read_tar *t)
{
	int64_t at = archive_read_header_position(t->archive);
	if (!t->ended)
		t->end = at > 0 && (uint64_t)at > t->begin ? (uint64_t)at : UINT64_MAX;
	t->ended = true;
}

/* Return 1 and a record (without id); 0: the end; PD_ERR_INPUT: damage, see `place` and `reason`; the caller may
 * continue. */
static int tar_next(struct pd_read_tar *t, struct pd_record *out)
{
	struct archive_entry *entry;
	while (!t->done) {
		int status = archive_read_next_header(t->archive, &entry);
		note_end(t);
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
			int r = no_entry(t, status);
			if (r <= 0)
				return r;
			continue;
		}
		t->lost = false;
		const char *path = path_of(entry);
		if (path && archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry))
			return read_file(t, entry, path, out);
	}
	return 0;
}

#else

static void tar_close(struct pd_read_tar *t)
{
	t->begin = 0;
	pd_buf_clear(&t->reason);
}

static void tar_open(struct pd_read_tar *t, struct pd_read_member *m, size_t max_block)
{
	tar_close(t);
	t->m = m;
	t->done = false;
}

static void tar_release(struct pd_read_tar *t)
{
	pd_buf_release(&t->name);
	pd_buf_release(&t->reason);
}

static int tar_next(struct pd_read_tar *t, struct pd_record *out)
{
	if (t->done)
		return 0;
	t->done = true;
	t->place = (struct pd_read_place){ 0, pd_read_member_packed(t->m) };
	pd_buf_add_z(&t->reason, "a tar archive, and this program was built without libarchive: unpack it and give the folder");
	return PD_ERR_INPUT;
}

#endif

/* Check the header: its checksum is computed with spaces in the checksum field, in octal; some programs used signed
 * characters. */
static bool is_tar(struct pd_span head)
{
	int64_t sum = 0, sum_signed = 0, said = 0;
	int i = CHECKSUM;
	if (head.n < HEADER || !head.p[0])
		return false;
	for (int k = 0; k < HEADER; k++) {
		bool own = k >= CHECKSUM && k < CHECKSUM + 8;
		sum += own ? ' ' : (unsigned char)head.p[k];
		sum_signed += own ? ' ' : (signed char)head.p[k];
	}
	while (i < CHECKSUM + 7 && head.p[i] == ' ')
		i++;
	for (; i < CHECKSUM + 8 && head.p[i] >= '0' && head.p[i] <= '7'; i++)
		said = said * 8 + (head.p[i] - '0');
	return said && (said == sum || said == sum_signed);
}

/* ==== Parquet ==== */

static void parquet_close(struct pd_read_parquet *p)
{
	pd_parquet_close(p->file);
	p->file = NULL;
	if (p->spool)
		fclose(p->spool);
	p->spool = NULL;
	free(p->batch);
	p->batch = NULL;
}

static void parquet_release(struct pd_read_parquet *p)
{
	parquet_close(p);
	pd_buf_release(&p->reason);
}

static bool parquet_named(const struct pd_parquet *file, const char *name, size_t *out)
{
	for (*out = 0; *out < pd_parquet_columns(file); ++*out)
		if (!strcmp(pd_parquet_name(file, *out), name) && pd_parquet_type(file, *out))
			return true;
	return false;
}

/* List the columns if none of them can be made into a page. */
static void no_page_columns(struct pd_read_parquet *p, const char *const *names)
{
	size_t n = pd_parquet_columns(p->file);
	const char *ours = "# pagededup ", *header = pd_parquet_note(p->file, "pagededup.header");
	if (header && !strncmp(header, ours, strlen(ours))) {
		header += strlen(ours);
		pd_buf_printf(&p->reason, "it contains %.*s rows written by pagededup, not pages", (int)strcspn(header, " \n"),
			      header);
		return;
	}
	pd_buf_printf(&p->reason, "no column \"%s\" or \"%s\" (found: ", names[PD_PARQUET_PAGE_TEXT], names[PD_PARQUET_HTML]);
	for (size_t i = 0; i < n && i < 20; i++)
		pd_buf_printf(&p->reason, "%s%s", i ? ", " : "", pd_parquet_name(p->file, i));
	pd_buf_printf(&p->reason, "%s): use --field-html= or --field-text=", n > 20 ? " …" : "");
}

static ptrdiff_t take_of_input(void *ctx, void *to, size_t n)
{
	struct pd_read_input *in = ctx;
	struct pd_span s = pd_read_input_peek(in, 1);
	n = s.n < n ? s.n : n;
	if (n)
		memcpy(to, s.p, n);
	pd_read_input_skip(in, n);
	errno = in->error;
	return n || !errno ? (ptrdiff_t)n : -1;
}

/* `pages`: the pages are needed, not only their addresses.  Return 0; PD_ERR_SYSTEM; PD_ERR_FORMAT, see `reason`. */
static int parquet_open(struct pd_read_parquet *p, enum pd_parquet_form form, struct pd_read_input *in,
			const struct pd_read_jsonl_fields *f, bool pages, uint64_t from, int threads)
{
	const char *const names[PD_PARQUET_FIELDS] = { f->url ? f->url : "url",
						       f->text ? f->text : "text",
						       f->html ? f->html : "html",
						       f->id ? f->id : "id",
						       "fetch_time",
						       "content_digest",
						       "content_type" };
	struct pd_parquet_want want[PD_PARQUET_FIELDS];
	struct pd_parquet_error why;
	size_t n = 0, column;
	pd_buf_clear(&p->reason);
	int r = form == PD_FORM_ARROW ? pd_parquet_open_stream(&p->file, take_of_input, in, &why)
				      : pd_parquet_open(&p->file, p->spool ? fileno(p->spool) : in->fd, &why);
	for (int i = 0; !r && i < PD_PARQUET_FIELDS; i++) {
		p->field[i] = -1;
		bool page = i == PD_PARQUET_PAGE_TEXT || i == PD_PARQUET_HTML;
		if ((page && !pages) || !parquet_named(p->file, names[i], &column))
			continue;
		int is = pd_parquet_type(p->file, column);
		want[n] =
			(struct pd_parquet_want){ .column = column,
						  .type = is == PD_PARQUET_BYTES || is == PD_PARQUET_BLOB ? is : PD_PARQUET_TEXT };
		if (i == PD_PARQUET_HTML)
			p->html_text = want[n].type == PD_PARQUET_TEXT;
		p->field[i] = (int)n++;
	}
	if (!r && pages && p->field[PD_PARQUET_PAGE_TEXT] < 0 && p->field[PD_PARQUET_HTML] < 0) {
		no_page_columns(p, names);
		return PD_ERR_FORMAT;
	}
	if (!r && !n) /* any column gives the number of rows */
		want[n++] = (struct pd_parquet_want){ .type = pd_parquet_type(p->file, 0) };
	if (!r)
		r = pd_parquet_read(p->file, want, n, from, threads, &why);
	p->batch = pd_zalloc(sizeof *p->batch);
	p->at = p->from = from;
	if (!r)
		return PD_OK;
	pd_buf_add_z(&p->reason, why.text);
	errno = why.number;
	return why.number ? PD_ERR_SYSTEM : PD_ERR_FORMAT;
}

static struct pd_span parquet_value(const struct pd_read_parquet *p, int field, uint64_t row)
{
	const struct pd_parquet_column *c = p->field[field] < 0 ? NULL : &p->batch->v[p->field[field]];
	if (!c || (c->valid && !(c->valid[row / 8] >> row % 8 & 1)))
		return pd_span(NULL, 0);
	const char *data = c->data;
	return c->offsets ? pd_span(data + c->offsets[row], (size_t)(c->offsets[row + 1] - c->offsets[row]))
			  : pd_span(data + row * (uint64_t)c->width, (size_t)c->width);
}

/* SHA-1 in base32, as in WARC. */
static bool is_digest(struct pd_span s)
{
	return s.n == 32;
}

static void fill_parquet_record(const struct pd_read_parquet *p, uint64_t row, size_t max_block, struct pd_record *out)
{
	struct pd_span html = parquet_value(p, PD_PARQUET_HTML, row), text = parquet_value(p, PD_PARQUET_PAGE_TEXT, row);
	struct pd_span digest = parquet_value(p, PD_PARQUET_DIGEST, row), type = parquet_value(p, PD_PARQUET_CONTENT_TYPE, row);
	pd_record_clear(out);
	pd_buf_add_span(&out->url, parquet_value(p, PD_PARQUET_URL, row));
	pd_buf_add_span(&out->user_id, parquet_value(p, PD_PARQUET_ID, row));
	pd_buf_add_span(&out->fetch_time, parquet_value(p, PD_PARQUET_TIME, row));
	if (is_digest(digest))
		pd_buf_add_span(&out->digest, digest);
	bool is_html = html.p && (html.n || !text.p);
	struct pd_span page = is_html ? html : text;
	out->kind = is_html ? PD_RECORD_PAYLOAD : text.p ? PD_RECORD_TEXT : PD_RECORD_OTHER;
	if (is_html && type.n)
		pd_buf_add_span(&out->content_type, type);
	else if (is_html)
		pd_buf_add_z(&out->content_type, p->html_text ? "text/html; charset=utf-8" : "text/html");
	out->length = page.n;
	out->cut = page.n > max_block;
	pd_buf_add(&out->block, page.p, out->cut ? max_block : page.n);
}

/* Return 1 and a record of row `at` - 1; 0: the end; PD_ERR_INPUT: rows from `at` on cannot be read, see `reason`;
 * PD_ERR_SYSTEM. */
static int parquet_next(struct pd_read_parquet *p, size_t max_block, bool pages, struct pd_record *out)
{
	struct pd_parquet_batch *b = p->batch;
	struct pd_parquet_error why = { 0 };
	if (p->at == b->row + b->n || !b->v) {
		int r = pd_parquet_next(p->file, b, &why);
		if (r < 0)
			p->at = b->row;
		b->v = r == 1 ? b->v : NULL;
		errno = why.number;
		if (r < 0 && why.number)
			return PD_ERR_SYSTEM;
		pd_buf_clear(&p->reason);
		if (r < 0)
			pd_buf_add_z(&p->reason, why.text);
		if (r <= 0)
			return r ? PD_ERR_INPUT : 0;
		p->at = b->row;
	}
	fill_parquet_record(p, p->at++ - b->row, max_block, out);
	if (!pages)
		out->kind = PD_RECORD_PAYLOAD;
	return 1;
}

/* ==== zip archives ==== */

#ifndef PD_WITHOUT_libarchive

static la_ssize_t zip_give(struct archive *a, void *ctx, const void **bytes)
{
	struct pd_read_zip *z = ctx;
	pd_read_input_skip(z->in, z->given);
	struct pd_span s = pd_read_input_peek(z->in, 1);
	*bytes = s.p;
	z->given = s.n;
	return (la_ssize_t)s.n;
}

static la_int64_t zip_seek(struct archive *a, void *ctx, la_int64_t offset, int whence)
{
	struct pd_read_zip *z = ctx;
	uint64_t from = whence == SEEK_END ? z->in->size : whence == SEEK_CUR ? z->in->offset + z->given : 0;
	z->given = 0;
	if ((offset < 0 && (uint64_t)-offset > from) || pd_read_input_seek(z->in, from + (uint64_t)offset) < 0)
		return ARCHIVE_FATAL;
	return (la_int64_t)z->in->offset;
}

static void zip_close(struct pd_read_zip *z)
{
	if (z->open)
		pd_read_source_close(z->part);
	z->open = false;
	archive_read_free(z->archive);
	z->archive = NULL;
	z->given = 0;
	pd_map_release(&z->names);
}

static void zip_open(struct pd_read_zip *z, struct pd_read_input *in)
{
	zip_close(z);
	z->in = in;
	z->number = 0;
	z->archive = pd_check_alloc(archive_read_new());
	archive_read_support_format_zip_streamable(z->archive);
	if (in->regular) {
		archive_read_support_format_zip_seekable(z->archive);
		archive_read_set_seek_callback(z->archive, zip_seek);
	}
	archive_read_set_read_callback(z->archive, zip_give);
	archive_read_set_callback_data(z->archive, z);
	z->done = archive_read_open1(z->archive) != ARCHIVE_OK;
}

static void zip_release(struct pd_read_zip *z)
{
	zip_close(z);
	if (z->part)
		pd_read_source_release(z->part);
	free(z->part);
	pd_buf_release(&z->path);
	pd_buf_release(&z->label);
	pd_buf_release(&z->reason);
}

static void zip_note(struct pd_read_zip *z, const char *what)
{
	const char *why = archive_error_string(z->archive);
	pd_buf_clear(&z->reason);
	pd_buf_printf(&z->reason, "%s%s%s", what, why ? ": " : "", why ? why : "");
}

/* As pd_read_input.pull.  A wrong checksum is reported with the last bytes. */
static size_t zip_pull(void *ctx, char *to, size_t n)
{
	struct pd_read_zip *z = ctx;
	while (!z->left && !z->reason.n) {
		const void *piece;
		la_int64_t offset;
		size_t got = 0;
		int r = archive_read_data_block(z->archive, &piece, &got, &offset);
		if (r == ARCHIVE_EOF)
			return 0;
		if (r != ARCHIVE_OK) {
			zip_note(z, "cannot be unpacked whole from the zip archive");
			z->part->in.broken = true;
		}
		z->piece = piece;
		z->left = r == ARCHIVE_OK || r == ARCHIVE_WARN ? got : 0;
	}
	n = n < z->left ? n : z->left;
	if (!n)
		return 0;
	memcpy(to, z->piece, n);
	z->piece += n;
	z->left -= n;
	return n;
}

/* The signature of the first member, or of an empty archive. */
static bool is_zip(struct pd_span head)
{
	return head.n >= 4 && (memcmp(head.p, "PK\3\4", 4) == 0 || memcmp(head.p, "PK\5\6", 4) == 0);
}

/* Open the next file: 1; 0: the end, or nothing more can be read (then there is a reason). */
static int zip_file(struct pd_read_zip *z)
{
	struct archive_entry *entry;
	pd_buf_clear(&z->reason);
	z->left = 0;
	while (!z->done) {
		int status = archive_read_next_header(z->archive, &entry);
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
			if (status != ARCHIVE_EOF)
				zip_note(z, "zip archive cut or damaged; the rest of it is lost");
			z->done = true;
			return 0;
		}
		z->number++;
		const char *path = path_of(entry);
		if (!path || !*path || archive_entry_filetype(entry) != AE_IFREG)
			continue;
		pd_buf_clear(&z->path);
		pd_buf_add_z(&z->path, path);
		return 1;
	}
	return 0;
}

#else

static void zip_close(struct pd_read_zip *z)
{
}

static void zip_release(struct pd_read_zip *z)
{
}

#endif

/* ==== mirrors of sites, as made by wget ==== */

/* The country codes, and the general domains with most hosts.  A folder is more often named conf.d, node.js or
 * page_files than like a host in one of the other thousand domains; those are accepted only with "www.". */
static const char countries[] =
	"ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv bw by bz ca cc cd cf "
	"cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf gg "
	"gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp "
	"kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne "
	"nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk "
	"sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn "
	"vu wf ws ye yt za zm zw ";
static const char general[] =
	"example internal local test com org net edu gov mil int info biz name pro mobi museum aero coop jobs travel tel cat asia "
	"arpa dev cloud online site "
	"website store shop tech blog news wiki live life art design agency academy world today space fun club top xyz icu vip "
	"social network systems software solutions digital media studio foundation institute university school science health care "
	"community group team email host hosting page link click pub press events guide guru tips tools works help support zone "
	"center city eco earth green energy one ngo ong bank insure finance law lawyer games game audio video photo photos gallery "
	"chat codes codelabs engineering technology computer company business international berlin paris london nyc tokyo "
	"amsterdam "
	"hamburg koeln wien brussels vlaanderen swiss scot wales bzh eus gal barcelona madrid moscow quebec africa ";

static bool listed(const char *list, struct pd_span word)
{
	char key[32] = { ' ' };
	if (!word.n || word.n > sizeof key - 3)
		return false;
	for (size_t i = 0; i < word.n; i++)
		key[i + 1] = pd_ascii_lower(word.p[i]);
	key[word.n + 1] = ' ';
	key[word.n + 2] = 0;
	return strstr(list, key) || strncmp(list, key + 1, word.n + 1) == 0;
}

static bool is_number(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

static bool label(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = pd_ascii_lower(s.p[i]);
		if (!((c >= 'a' && c <= 'z') || pd_ascii_digit(c) || c == '_' || (c == '-' && i && i + 1 < s.n)))
			return false;
	}
	return s.n > 0 && s.n < 64;
}

/* 192.0.2.1 */
static bool is_address(struct pd_span host)
{
	struct pd_span part;
	uint64_t v;
	int n = 0;
	for (; pd_span_split(&host, '.', &part); n++)
		if (part.n > 3 || !is_number(part) || !pd_span_u64(part, &v) || v > 255)
			return false;
	return n == 4;
}

static bool domain(struct pd_span host)
{
	struct pd_span part = host, rest = host;
	int n = 0;
	for (; pd_span_split(&rest, '.', &part); n++)
		if (!label(part))
			return false;
	if (n < 2 || is_number(part))
		return false;
	return listed(countries, part) || listed(general, part) || pd_span_istarts(part, "xn--") ||
	       (n > 2 && pd_span_istarts(host, "www."));
}

/* wget writes a colon before the port, or a plus sign on file systems without colons. */
static bool is_host(struct pd_span folder, struct pd_span *host, struct pd_span *port)
{
	*host = folder;
	*port = pd_span(NULL, 0);
	for (size_t i = folder.n; i > 0; i--) {
		if (folder.p[i - 1] != ':' && folder.p[i - 1] != '+')
			continue;
		*host = pd_span(folder.p, i - 1);
		*port = pd_span(folder.p + i, folder.n - i);
		break;
	}
	if (port->p && (!is_number(*port) || port->n > 5))
		return false;
	return is_address(*host) || domain(*host) || (port->n && pd_span_ieq(*host, "localhost"));
}

bool pd_read_mirror_url(struct pd_span path, struct pd_buf *url)
{
	struct pd_span folder, host, port, before = pd_span(NULL, 0), rest = path;
	while (pd_span_split(&rest, '/', &folder) && rest.p) {
		if (is_host(folder, &host, &port)) {
			pd_buf_add_z(url, pd_span_is(before, "https") ? "https://" : "http://");
			pd_buf_add_span(url, host);
			if (port.n)
				pd_buf_printf(url, ":%.*s", (int)port.n, port.p);
			pd_buf_add_c(url, '/');
			pd_buf_add_span(url, rest);
			return true;
		}
		before = folder;
	}
	return false;
}

/* ==== any input ==== */

static void report_damage(struct pd_read_sink *sink, const struct pd_read_damage *d)
{
	sink->count++;
	if (sink->damage)
		sink->damage(sink->ctx, d);
}

void pd_read_sink_tell(struct pd_read_sink *sink, const char *file, struct pd_read_place place, const char *reason)
{
	report_damage(sink,
		      &(struct pd_read_damage){ .file = file, .offset = place.offset, .stream = place.stream, .reason = reason });
}

void pd_read_sink_tell_whole(struct pd_read_sink *sink, const char *file, const char *reason)
{
	report_damage(sink, &(struct pd_read_damage){ .file = file, .whole = true, .reason = reason });
}

void pd_read_source_how(struct pd_read_source *s, const struct pd_read_file *f)
{
	s->found = f->found;
}

void pd_read_source_init(struct pd_read_source *s, const struct pd_reader_options *o, struct pd_read_sink *sink)
{
	*s = (struct pd_read_source){
		.max_block = o->max_block, .threads = o->threads, .all_text = o->all_text, .twice = o->twice, .sink = sink
	};
	pd_read_input_init(&s->in);
	pd_read_member_init(&s->member);
	jsonl_init(&s->jsonl, &o->fields, o->max_block);
	s->fields = o->fields;
}

void pd_read_source_release(struct pd_read_source *s)
{
	tar_release(&s->tar);
	zip_release(&s->zip);
	parquet_release(&s->parquet);
	jsonl_release(&s->jsonl);
	pd_read_input_release(&s->in);
	pd_read_member_release(&s->member);
	pd_buf_release(&s->reason);
	pd_buf_release(&s->id);
}

void pd_read_source_close(struct pd_read_source *s)
{
	tar_close(&s->tar);
	zip_close(&s->zip);
	parquet_close(&s->parquet);
	pd_read_input_close(&s->in);
}

/* --- recognising the kind --- */

/* HEAD: sufficient for a header's first lines.  EMPTY: maximum number of empty members at the start. */
enum { HEAD = 8192, EMPTY = 64 };

static bool begins_dump(struct pd_span head)
{
	return pd_read_format_warc.begins(head, false) || pd_read_format_arc.begins(head, false);
}

/* Skip bytes that may precede a record in its member. */
static struct pd_span without_padding(struct pd_span s)
{
	if (s.n >= 3 && memcmp(s.p, "\xef\xbb\xbf", 3) == 0)
		s = pd_span(s.p + 3, s.n - 3);
	while (s.n && (!s.p[0] || pd_ascii_space(s.p[0])))
		s = pd_span(s.p + 1, s.n - 1);
	return s;
}

static bool begins_line(struct pd_span head)
{
	return head.n && head.p[0] == '{';
}

static void set_id(const struct pd_read_source *s, struct pd_read_place place, struct pd_buf *out)
{
	pd_buf_clear(out);
	pd_buf_printf(out, "%s:%s%llu", s->label, place.stream ? "+" : "", (unsigned long long)place.offset);
}

static void set_member_id(const struct pd_read_source *s, const char *name, struct pd_buf *out)
{
	pd_buf_clear(out);
	pd_buf_printf(out, "%s!%s", s->label, name);
}

static bool wants_place(void *ctx, struct pd_read_place place)
{
	struct pd_read_source *s = ctx;
	set_id(s, place, &s->id);
	return s->wants(s->wants_ctx, pd_buf_span(&s->id));
}

static bool wants_member(void *ctx, const char *name)
{
	struct pd_read_source *s = ctx;
	set_member_id(s, name, &s->id);
	return s->wants(s->wants_ctx, pd_buf_span(&s->id));
}

static void open_dump(struct pd_read_source *s, const struct pd_read_format *format)
{
	s->kind = PD_SOURCE_DUMP;
	s->member.begins = begins_dump;
	pd_read_dump_open(&s->dump, &s->member, format, s->max_block);
	s->dump.keep_header = s->keep_headers;
	s->dump.keep_block = s->keep_blocks;
	s->dump.wants = s->wants ? wants_place : NULL;
	s->dump.wants_ctx = s;
}

static void open_jsonl(struct pd_read_source *s)
{
	s->kind = PD_SOURCE_JSONL;
	s->member.begins = begins_line;
	jsonl_open(&s->jsonl, &s->member);
	s->jsonl.wants = s->wants ? wants_place : NULL;
	s->jsonl.wants_ctx = s;
}

static const struct pd_read_format *format_of(struct pd_span head)
{
	return pd_read_format_arc.begins(head, false) ? &pd_read_format_arc : &pd_read_format_warc;
}

/* Open the first member that is not empty, or that is broken. */
static struct pd_span first_bytes(struct pd_read_member *m)
{
	for (int i = 0; i < EMPTY && pd_read_member_next(m) == 1; i++) {
		struct pd_span s = pd_read_member_peek(m, HEAD);
		if (s.n || m->state == PD_MEMBER_BROKEN)
			return s;
	}
	return pd_span("", 0);
}

/* The first line of a list of pages in a WACZ. */
static bool is_page_list(struct pd_span head)
{
	const char *end = head.n ? memchr(head.p, '\n', head.n) : NULL;
	return pd_span_find(pd_span(head.p, end ? (size_t)(end - head.p) : head.n), pd_span_z("\"json-pages-1.0\"")) >= 0;
}

static bool looks_jsonl(struct pd_read_source *s, struct pd_span head)
{
	if (!head.n || (!memchr("{#/ntf[\"\xef", head.p[0], 9) && !pd_ascii_space(head.p[0])) || is_page_list(head))
		return false;
	head = pd_read_member_peek(&s->member, PD_INPUT_WINDOW);
	return is_jsonl(&s->jsonl, head, s->member.state == PD_MEMBER_MORE);
}

/* Recognise the input by its beginning.  tar first, because a path in it may begin with anything; then JSON, whose
 * lines may contain text like a WARC header without its first line. */
static bool recognise_by_head(struct pd_read_source *s, struct pd_span head)
{
	if (is_tar(head)) {
		s->kind = PD_SOURCE_TAR;
		tar_open(&s->tar, &s->member, s->max_block);
		s->tar.wants = s->wants ? wants_member : NULL;
		s->tar.wants_ctx = s;
	} else if (looks_jsonl(s, head)) {
		open_jsonl(s);
	} else if (pd_read_format_warc.recognises(head)) {
		open_dump(s, &pd_read_format_warc);
	} else if (pd_read_format_arc.recognises(head)) {
		open_dump(s, &pd_read_format_arc);
	} else {
		return false;
	}
	return true;
}

/* Recognise a compressed dump whose magic bytes are damaged. */
static bool recognise_by_later_member(struct pd_read_source *s)
{
	static const enum pd_codec codecs[] = { PD_CODEC_GZIP, PD_CODEC_ZSTD, PD_CODEC_LZ4, PD_CODEC_XZ, PD_CODEC_BZIP2 };
	struct pd_span window = pd_read_input_peek(&s->in, PD_INPUT_WINDOW);
	for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
		s->member.codec = codecs[i];
		if (pd_read_member_find(&s->member, window, 1) < 0)
			continue;
		pd_read_member_open(&s->member, &s->in, codecs[i]);
		open_dump(s, format_of(pd_buf_span(&s->member.probe)));
		return true;
	}
	s->member.codec = PD_CODEC_NONE;
	return false;
}

/* Recognise a compressed dump whose first member is damaged, or is not a record. */
static bool recognise_by_next_member(struct pd_read_source *s)
{
	struct pd_read_input *in = &s->in;
	uint64_t at = in->offset;
	pd_read_input_back(in, s->member.start + 1);
	bool found = pd_read_member_find(&s->member, pd_read_input_peek(in, PD_INPUT_WINDOW), 0) >= 0;
	pd_read_input_skip(in, (size_t)(at - in->offset));
	if (found)
		open_dump(s, format_of(pd_buf_span(&s->member.probe)));
	return found;
}

static void take_dictionary(struct pd_read_source *s)
{
	struct pd_read_place place = { s->in.offset, false };
	const char *wrong = pd_read_member_dictionary(&s->member);
	if (wrong && !s->in.error)
		pd_read_sink_tell(s->sink, s->label, place, wrong);
}

/* A packed format that is not supported. */
struct foreign {
	const char *magic, *name, *unpack; /* the program to be called with -dc or -d; NULL: no program can convert
						 * it to a supported stream */
};

static const struct foreign *foreign_of(struct pd_span head)
{
	static const struct foreign all[] = {
		{ "\xfd"
		  "7zXZ",
		  "xz", "xz" },
		{ "BZh", "bzip2", "bzip2" },
		{ "LZIP", "lzip", "lzip" },
		{ "\x1f\x9d", "compress", "gzip" },
		{ "PK\3\4", "zip", NULL },
		{ "7z\xbc\xaf", "7z", NULL },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		size_t n = strlen(all[i].magic);
		if (head.n <= n + 8 || memcmp(head.p, all[i].magic, n) != 0)
			continue;
		/* Text may begin with this word. */
		return strcmp(all[i].name, "bzip2") != 0 || memcmp(head.p + 4, "1AY&SY", 6) == 0 ? &all[i] : NULL;
	}
	return NULL;
}

static bool ends_like(const char *label, const char *const *ends)
{
	for (int i = 0; ends[i]; i++) {
		size_t n = strlen(ends[i]), m = strlen(label);
		if (m > n && pd_span_ieq(pd_span(label + m - n, n), ends[i]))
			return true;
	}
	return false;
}

/* Return whether it is a zip file with a typical first member of a WACZ. */
static bool is_wacz(const char *label, struct pd_span head)
{
	static const char *const parts[] = { "archive/", "indexes/", "pages/", "datapackage", NULL }, *const ends[] = { ".wacz",
															NULL };
	for (int i = 0; parts[i] && head.n > 64; i++)
		if (memcmp(head.p + 30, parts[i], strlen(parts[i])) == 0)
			return true;
	return ends_like(label, ends);
}

#ifdef PD_WITHOUT_libarchive
static const bool reads_zip = false;
#else
static const bool reads_zip = true;
#endif

static void add_advice(const struct foreign *f, const char *label, bool from_stdin, bool twice, struct pd_span head,
		       struct pd_buf *out)
{
	pd_buf_clear(out);
	if (f->magic[0] == 'P' && reads_zip)
		pd_buf_printf(out, "%s",
			      is_wacz(label, head) ? "WACZ (zip) is read but not written: unpack it and give archive/*.warc.gz"
						   : "zip is read but not written: unpack it and give the folder");
	else if (f->unpack && twice)
		pd_buf_printf(out, "%s is not supported; unpack it first: %s -d %s", f->name, f->unpack, label);
	else if (f->unpack)
		pd_buf_printf(out, "%s is not supported; try: %s -dc%s%s | pagededup fp", f->name, f->unpack, from_stdin ? "" : " ",
			      from_stdin ? "" : label);
	else if (f->magic[0] == 'P' && is_wacz(label, head))
		pd_buf_add_z(out, "WACZ (zip): unpack it and give archive/*.warc.gz");
	else
		pd_buf_printf(out, "%s is not supported: unpack it and give the folder", f->name);
}

int pd_read_source_foreign(const char *path, const char *label, struct pd_buf *reason)
{
	char bytes[HEAD];
	FILE *file = fopen(path, "re");
	if (!file)
		return PD_ERR_SYSTEM;
	struct pd_span head = pd_span(bytes, fread(bytes, 1, sizeof bytes, file));
	const struct foreign *f = pd_read_member_codec(head) ? NULL : foreign_of(head);
	int error = ferror(file) ? errno : 0;
	fclose(file);
	if (f)
		add_advice(f, label, false, true, head, reason);
	errno = error;
	return error ? PD_ERR_SYSTEM : !f ? 0 : f->magic[0] == 'P' && reads_zip ? 2 : 1;
}

/* An unsupported packed dump must not be skipped like a page of another type: it is reported if it was typed, or if it
 * is named like a dump.  Other such files in folders (downloads) are simply not pages. */
static bool refuse_foreign(struct pd_read_source *s)
{
	static const char *const dumps[] = { ".wacz",	   ".warc.xz", ".warc.bz2", ".arc.xz",	 ".arc.bz2", ".wet.xz", ".jsonl.xz",
					     ".jsonl.bz2", ".tar.xz",  ".tar.bz2",  ".warc.zip", ".warc.lz", NULL };
	struct pd_span head = pd_read_input_peek(&s->in, HEAD);
	const struct foreign *f = foreign_of(head);
	if (!f || (s->found && !ends_like(s->label, dumps)))
		return false;
	add_advice(f, s->label, s->in.fd == 0, s->twice, head, &s->reason);
	pd_read_sink_tell_whole(s->sink, s->label, s->reason.p);
	s->kind = PD_SOURCE_NONE;
	return true;
}

/* Return whether pages are needed.  Where dumps are rewritten only the heads of pages are read; then addresses are
 * sufficient. */
static bool wants_pages(const struct pd_read_source *s)
{
	return s->max_block > 1;
}

/* The metadata of Parquet is at its end. */
static bool spool_parquet(struct pd_read_source *s)
{
#ifndef PD_WITHOUT_parquet
	struct pd_err e;
	s->parquet.spool = pd_tempfile_of(take_of_input, &s->in, s->label, NULL, &e);
	if (!s->parquet.spool && !s->in.error) {
		s->in.error = errno;
		s->failed = "cannot be put into a temporary file";
	}
#endif
	return !s->in.error;
}

static void open_parquet(struct pd_read_source *s, enum pd_parquet_form form, uint64_t from)
{
	pd_read_member_open(&s->member, &s->in, PD_CODEC_NONE);
	s->kind = PD_SOURCE_NONE;
	pd_buf_clear(&s->reason);
	if (s->in.pull) {
		pd_buf_add_z(&s->reason, form == PD_FORM_ARROW ? "Arrow" : "Parquet");
		pd_buf_add_z(&s->reason, " cannot be read from an archive: unpack it");
		pd_read_sink_tell_whole(s->sink, s->label, s->reason.p);
		return;
	}
	if (form == PD_FORM_PARQUET && !s->in.regular && !spool_parquet(s))
		return;
	int status = parquet_open(&s->parquet, form, &s->in, &s->fields, wants_pages(s), from, s->threads);
	s->parquet.size = form == PD_FORM_PARQUET ? s->in.size : 0;
	if (!status)
		s->kind = PD_SOURCE_PARQUET;
	else if (status == PD_ERR_SYSTEM)
		s->in.error = errno;
	else
		pd_read_sink_tell_whole(s->sink, s->label, pd_buf_z(&s->parquet.reason));
}

static void recognise(struct pd_read_source *s)
{
	struct pd_read_member *m = &s->member;
	struct pd_span head = pd_read_input_peek(&s->in, HEAD);
	enum pd_parquet_form form = pd_parquet_form(head.p, head.n, NULL);
	if (form != PD_FORM_OTHER) {
		open_parquet(s, form, 0);
		return;
	}
#ifndef PD_WITHOUT_libarchive
	if (!s->part && is_zip(pd_read_input_peek(&s->in, HEAD))) {
		pd_read_member_open(m, &s->in, PD_CODEC_NONE);
		s->kind = PD_SOURCE_ZIP;
		zip_open(&s->zip, &s->in);
		return;
	}
#endif
	pd_read_member_open(m, &s->in, pd_read_member_codec(pd_read_input_peek(&s->in, HEAD)));
	m->begins = begins_dump;
	if (m->codec == PD_CODEC_ZSTD)
		take_dictionary(s);
	s->head = s->in.offset;
	if (recognise_by_head(s, first_bytes(m)))
		return;
	if (!pd_read_member_packed(m) && refuse_foreign(s))
		return;
	if (!(pd_read_member_packed(m) ? recognise_by_next_member(s) : recognise_by_later_member(s)))
		s->kind = PD_SOURCE_PAGE;
}

static bool recognise_at(struct pd_read_source *s, uint64_t offset)
{
	struct pd_read_member *m = &s->member;
	struct pd_span begin = pd_read_input_peek(&s->in, HEAD);
	enum pd_parquet_form form = pd_parquet_form(begin.p, begin.n, NULL);
	if (form != PD_FORM_OTHER) {
		open_parquet(s, form, offset);
		return s->kind == PD_SOURCE_PARQUET && offset < pd_parquet_rows(s->parquet.file);
	}
	if (pd_read_input_seek(&s->in, offset) < 0)
		return false;
	enum pd_codec codec = pd_read_member_codec(pd_read_input_peek(&s->in, HEAD));
	if (codec == PD_CODEC_ZSTD) {
		pd_read_input_seek(&s->in, 0);
		pd_read_member_open(m, &s->in, codec);
		take_dictionary(s);
		pd_read_input_seek(&s->in, offset);
	}
	pd_read_member_open(m, &s->in, codec);
	m->begins = begins_dump;
	if (pd_read_member_next(m) != 1)
		return false;
	struct pd_span head = without_padding(pd_read_member_peek(m, HEAD));
	if (begins_dump(head) || m->state == PD_MEMBER_BROKEN)
		open_dump(s, format_of(head));
	else if (!pd_read_member_packed(m) && begins_line(head))
		open_jsonl(s);
	else
		return false;
	return true;
}

/* --- opening, and records --- */

int pd_read_source_open(struct pd_read_source *s, const char *path, const char *label)
{
	s->label = s->path = label;
	s->done = false;
	s->failed = NULL;
	if (pd_read_input_open(&s->in, path) < 0)
		return PD_ERR_SYSTEM;
	recognise(s);
	return PD_OK;
}

int pd_read_source_open_at(struct pd_read_source *s, const char *path, const char *label, uint64_t offset)
{
	s->label = s->path = label;
	s->done = false;
	s->failed = NULL;
	if (pd_read_input_open(&s->in, path) < 0)
		return PD_ERR_SYSTEM;
	bool found = recognise_at(s, offset);
	errno = s->in.error;
	return s->in.error ? PD_ERR_SYSTEM : found ? PD_OK : PD_ERR_NOT_FOUND;
}

/* Return 1 for a record, or for damage that was reported; 0: the end; PD_ERR_INPUT: continue. */
static int next_dump(struct pd_read_source *s, struct pd_record *out)
{
	int r = pd_read_dump_next(&s->dump, out);
	if (r == 1)
		set_id(s, s->dump.place, &out->id);
	else if (r < 0 && !s->in.error)
		pd_read_sink_tell(s->sink, s->label, s->dump.place, s->dump.reason);
	return r;
}

static int next_jsonl(struct pd_read_source *s, struct pd_record *out)
{
	int r = jsonl_next(&s->jsonl, out);
	if (r == 1)
		set_id(s, s->jsonl.place, &out->id);
	else if (r < 0 && !s->in.error)
		pd_read_sink_tell(s->sink, s->label, s->jsonl.place, s->jsonl.reason);
	else if (!r && !s->part && explain_no_page(&s->jsonl))
		pd_read_sink_tell_whole(s->sink, s->label, explain_no_page(&s->jsonl));
	return r;
}

static int next_parquet(struct pd_read_source *s, struct pd_record *out)
{
	struct pd_read_parquet *p = &s->parquet;
	bool wanted = !s->wants || wants_place(s, (struct pd_read_place){ p->at, false });
	int r = parquet_next(p, wanted ? s->max_block : 0, wants_pages(s), out);
	uint64_t rows = pd_parquet_rows(p->file);
	if (r == 1)
		set_id(s, (struct pd_read_place){ p->at - 1, false }, &out->id);
	else if (r == PD_ERR_SYSTEM)
		s->in.error = errno;
	else if (r < 0)
		pd_read_sink_tell(s->sink, s->label, (struct pd_read_place){ p->at, false }, p->reason.p);
	/* The caller knows how many bytes it gave, so only rows are counted as damage. */
	if (r == 1 && rows)
		s->in.taken += p->size * p->at / rows - p->size * (p->at - 1) / rows;
	if (r < 0)
		p->at += p->batch->n;
	return r;
}

/* Set the URL of a file: its path, or the URL that the path of a mirror gives. */
static void set_url(struct pd_read_source *s, const char *path, struct pd_record *out)
{
	pd_buf_clear(&out->url);
	s->mirrored = pd_read_mirror_url(pd_span_z(path), &out->url);
	if (!s->mirrored)
		pd_buf_add_z(&out->url, path);
}

static int next_file(struct pd_read_source *s, struct pd_record *out)
{
	int r = tar_next(&s->tar, out);
	if (r == 1) {
		set_member_id(s, pd_buf_z(&s->tar.name), &out->id);
		pd_buf_set(&s->reason, pd_buf_span(&out->url));
		set_url(s, pd_buf_z(&s->reason), out);
		out->html_only = !s->all_text;
	} else if (r < 0 && !s->in.error)
		pd_read_sink_tell(s->sink, s->label, s->tar.place, pd_buf_z(&s->tar.reason));
	return r;
}

/* Append the bytes of the current member, up to the limit. */
static void add_member(struct pd_read_source *s, size_t most, struct pd_record *out)
{
	const struct pd_read_input *in = &s->in;
	for (;;) {
		struct pd_span got = pd_read_member_peek(&s->member, 1);
		size_t room = most - out->block.n;
		if (!got.n)
			return;
		pd_buf_add(&out->block, got.p, got.n < room ? got.n : room);
		out->length += got.n;
		pd_read_member_skip(&s->member, got.n);
		if (!pd_read_member_packed(&s->member) && out->length > most && in->size > out->length) {
			out->length = in->size;
			return;
		}
	}
}

/* The whole input is the page; its first member was opened when it was recognised. */
static int next_page(struct pd_read_source *s, struct pd_record *out)
{
	struct pd_read_member *m = &s->member;
	int r;
	pd_record_clear(out);
	pd_buf_add_z(&out->id, s->label);
	size_t most = s->wants && !s->wants(s->wants_ctx, pd_buf_span(&out->id)) ? 0 : s->max_block;
	set_url(s, s->path, out);
	out->kind = PD_RECORD_PAYLOAD;
	out->html_only = s->found && !s->all_text;
	s->done = true;
	do {
		add_member(s, most, out);
		if (m->state == PD_MEMBER_BROKEN) {
			pd_read_sink_tell(s->sink, s->label, (struct pd_read_place){ m->start, false }, m->reason);
			return 0;
		}
	} while ((r = pd_read_member_next(m)) == 1);
	if (s->in.error || s->in.broken)
		return 0;
	out->junk = r < 0;
	if (out->junk)
		pd_read_sink_tell(s->sink, s->label, (struct pd_read_place){ s->in.offset, false },
				  "junk after the compressed page");
	out->cut = out->block.n < out->length;
	return 1;
}

#ifndef PD_WITHOUT_libarchive

/* An id begins with the label of the file that contains the record. */
static bool may_hold(const char *label, const char *id)
{
	return !id || strncmp(id, label, strlen(label)) == 0;
}

/* Open the next file of the archive as an input; return false if there is none. */
static bool open_part(struct pd_read_source *s)
{
	struct pd_read_zip *z = &s->zip;
	struct pd_reader_options o = { .max_block = s->max_block, .all_text = s->all_text, .twice = s->twice, .fields = s->fields };
	do {
		if (!zip_file(z))
			return false;
		pd_buf_clear(&z->label);
		pd_buf_printf(&z->label, "%s!%s", s->label, z->path.p);
		if (!pd_map_add(&z->names, pd_map_key(pd_buf_span(&z->path))))
			pd_buf_printf(&z->label, "!%llu", (unsigned long long)z->number);
	} while (!may_hold(z->label.p, s->wanted));
	if (!z->part) {
		z->part = pd_alloc(sizeof *z->part);
		pd_read_source_init(z->part, &o, s->sink);
		z->part->part = z->part->found = true;
	}
	struct pd_read_source *part = z->part;
	part->keep_headers = s->keep_headers;
	part->keep_blocks = s->keep_blocks;
	part->max_block = s->max_block;
	part->wanted = s->wanted;
	part->wants = s->wants;
	part->wants_ctx = s->wants_ctx;
	part->label = z->label.p;
	part->path = z->path.p;
	part->done = false;
	pd_read_input_open_pull(&part->in, zip_pull, z);
	recognise(part);
	/* In folders, archives are books and programs more often than collections of pages, so only dumps in them are
	 * read. */
	part->done = s->found && part->kind != PD_SOURCE_DUMP;
	return z->open = true;
}

static int next_in_zip(struct pd_read_source *s, struct pd_record *out)
{
	struct pd_read_zip *z = &s->zip;
	for (;;) {
		if (!z->open && !open_part(s)) {
			if (z->reason.n && !s->in.error)
				pd_read_sink_tell_whole(s->sink, s->label, z->reason.p);
			return 0;
		}
		if (pd_read_source_next(z->part, out) == 1) {
			s->mirrored = z->part->mirrored;
			return 1;
		}
		pd_read_source_close(z->part);
		z->open = false;
		if (z->reason.n && !s->in.error)
			pd_read_sink_tell_whole(s->sink, z->label.p, z->reason.p);
	}
}

#endif

/* An unreadable input was already reported. */
static int next_none(struct pd_read_source *s, struct pd_record *out)
{
	return 0;
}

int pd_read_source_next(struct pd_read_source *s, struct pd_record *out)
{
	static int (*const next[])(struct pd_read_source * s, struct pd_record * out) = {
		[PD_SOURCE_DUMP] = next_dump,	    [PD_SOURCE_JSONL] = next_jsonl, [PD_SOURCE_TAR] = next_file,
#ifndef PD_WITHOUT_libarchive
		[PD_SOURCE_ZIP] = next_in_zip,
#endif
		[PD_SOURCE_PARQUET] = next_parquet, [PD_SOURCE_PAGE] = next_page,   [PD_SOURCE_NONE] = next_none,
	};
	s->mirrored = false;
	int r = s->done ? 0 : PD_ERR_INPUT;
	while (r < 0 && !s->in.error)
		r = next[s->kind](s, out);
	s->done |= r == 0;
	if (!s->in.error)
		return r;
	errno = s->in.error;
	return PD_ERR_SYSTEM;
}

/* Lines and files in a compressed stream may span members. */
static void set_stream_extent(const struct pd_read_source *s, uint64_t begin, uint64_t end, struct pd_read_extent *out)
{
	bool packed = pd_read_member_packed(&s->member);
	*out = (struct pd_read_extent){ .begin = begin, .end = end, .stream = packed, .member = s->head, .last = UINT64_MAX };
}

void pd_read_source_extent(const struct pd_read_source *s, struct pd_read_extent *out)
{
	switch (s->kind) {
	case PD_SOURCE_DUMP: pd_read_dump_extent(&s->dump, out); break;
	case PD_SOURCE_JSONL: set_stream_extent(s, s->jsonl.place.offset, pd_read_member_offset(&s->member), out); break;
	case PD_SOURCE_TAR: set_stream_extent(s, s->tar.begin, s->tar.begin, out); break;
	case PD_SOURCE_PARQUET: *out = (struct pd_read_extent){ .begin = s->parquet.at - 1, .end = s->parquet.at }; break;
	case PD_SOURCE_ZIP:
	case PD_SOURCE_PAGE:
	case PD_SOURCE_NONE: *out = (struct pd_read_extent){ .end = UINT64_MAX }; break;
	}
}
