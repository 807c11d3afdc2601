/* SPDX-License-Identifier: MIT
 *
 * A line is parsed where it lies in the window; only one that goes over its edge is copied.
 */
#include "read/jsonl.h"

#include "base/err.h"

/* A page with every byte escaped is twice as long, or six times when it is made of control characters; what is over
 * four times the limit of a page is no page that could be used. */
enum { LINE_FACTOR = 4, KEEP = 1 << 22, LOOK = 16 };

void pd_read_jsonl_init(struct pd_read_jsonl *j, const struct pd_read_jsonl_fields *f, size_t max_block)
{
	*j = (struct pd_read_jsonl){ .max_block = max_block };
	j->max_line = max_block < SIZE_MAX / LINE_FACTOR ? max_block * LINE_FACTOR : SIZE_MAX;
	j->fields[PD_JSONL_URL].name = f->url ? f->url : "url";
	j->fields[PD_JSONL_TEXT].name = f->text ? f->text : "text";
	j->fields[PD_JSONL_HTML].name = f->html ? f->html : "html";
	j->fields[PD_JSONL_ID].name = f->id ? f->id : "id";
}

void pd_read_jsonl_release(struct pd_read_jsonl *j)
{
	for (int i = 0; i < PD_JSONL_FIELDS; i++)
		pd_buf_release(&j->fields[i].value);
	pd_buf_release(&j->line);
	pd_buf_release(&j->names);
}

void pd_read_jsonl_open(struct pd_read_jsonl *j, struct pd_read_member *m)
{
	j->m = m;
	j->over = false;
	j->useful = j->lines = 0;
	pd_buf_clear(&j->names);
	pd_buf_shrink(&j->line, KEEP);
}

/* No member of the line is what a page could be made of: which are there, and which is the longest string? */
static void note_useless(struct pd_read_jsonl *j, struct pd_span line)
{
	struct pd_buf names = { 0 }, longest = { 0 };
	bool markup;
	if (!pd_json_survey(line, &names, &longest, &markup))
		return;
	pd_buf_printf(&j->names, "no field \"%s\" or \"%s\" (found: %s)", j->fields[PD_JSONL_TEXT].name, j->fields[PD_JSONL_HTML].name,
		      names.n ? names.p : "none");
	if (longest.n)
		pd_buf_printf(&j->names, ": use --field-%s=%s", markup ? "html" : "text", longest.p);
	pd_buf_release(&names);
	pd_buf_release(&longest);
}

const char *pd_read_jsonl_useless(const struct pd_read_jsonl *j)
{
	return j->lines && !j->useful && j->names.n ? j->names.p : NULL;
}

static int damage(struct pd_read_jsonl *j, struct pd_read_place place, const char *reason)
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
	out->length = page.n;
	out->cut = page.n > j->max_block;
	pd_buf_add(&out->block, page.p, out->cut ? j->max_block : page.n);
}

static bool fill(struct pd_read_jsonl *j, struct pd_span line, struct pd_record *out)
{
	const struct pd_json_member *f = j->fields, *html = &f[PD_JSONL_HTML], *text = &f[PD_JSONL_TEXT];
	pd_record_clear(out);
	if (!pd_json_members(line, j->fields, PD_JSONL_FIELDS))
		return false;
	if (f[PD_JSONL_URL].present)
		pd_buf_add_span(&out->url, pd_buf_span(&f[PD_JSONL_URL].value));
	if (f[PD_JSONL_ID].present)
		pd_buf_add_span(&out->user_id, pd_buf_span(&f[PD_JSONL_ID].value));
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
			note_useless(j, line);
	}
	j->lines++;
	j->useful += out->kind != PD_RECORD_OTHER;
	return true;
}

/* White space, and the mark that some editors put at the start of a file. */
static struct pd_span bare(struct pd_span line)
{
	if (line.n >= 3 && memcmp(line.p, "\xef\xbb\xbf", 3) == 0)
		line = pd_span(line.p + 3, line.n - 3);
	return pd_span_trim(line);
}

/* The window is empty: 1 when the next member goes on, 0 the end, PD_ERR_INPUT; the line read so far began at `begin`. */
static int more(struct pd_read_jsonl *j, struct pd_read_place begin)
{
	struct pd_read_member *m = j->m;
	const char *reason = m->state == PD_MEMBER_BROKEN ? m->reason : NULL;
	int r = reason ? PD_ERR_INPUT : pd_read_member_next(m);
	if (r >= 0)
		return r;
	if (!reason)
		reason = m->reason;
	pd_read_member_resync(m);
	return damage(j, begin, reason);
}

static void keep(struct pd_read_jsonl *j, struct pd_span part)
{
	if (part.n > j->max_line - j->line.n)
		j->over = true;
	else
		pd_buf_add_span(&j->line, part);
	pd_read_member_skip(j->m, part.n);
}

/* One line, or its copy when it goes over the window's edge; *skip bytes of the window are the caller's to move over. */
static int next_line(struct pd_read_jsonl *j, struct pd_read_place begin, struct pd_span *line, size_t *skip)
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
		int r = s.n ? 1 : more(j, begin);
		if (r < 0)
			return r;
		if (end || !r) {
			*line = pd_buf_span(&j->line);
			return end || j->line.n || j->over;
		}
	}
}

int pd_read_jsonl_next(struct pd_read_jsonl *j, struct pd_record *out)
{
	for (;;) {
		struct pd_read_place begin = here(j);
		struct pd_span line;
		size_t skip;
		pd_buf_shrink(&j->line, KEEP);
		int r = next_line(j, begin, &line, &skip);
		if (r <= 0)
			return r;
		if (j->over)
			return damage(j, begin, "line over four times the page limit");
		line = bare(line);
		bool empty = !line.n, ok = !empty && fill(j, line, out);
		pd_read_member_skip(j->m, skip);
		j->place = begin;
		if (ok)
			return 1;
		if (!empty)
			return damage(j, begin, "line that is no JSON object in UTF-8");
	}
}

/* A first line that is longer than what can be seen: does a member of it have a name that we know? */
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

/* Some put comments, null and other values before the first object. */
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

bool pd_read_jsonl_looks(struct pd_read_jsonl *j, struct pd_span head, bool more)
{
	int objects = 0;
	head = bare(head);
	for (int i = 0; i < LOOK && head.n; i++) {
		const char *end = memchr(head.p, '\n', head.n);
		if (!end && more)
			return head.p[0] == '{' && names_field(j, head);
		struct pd_span line = pd_span(head.p, end ? (size_t)(end - head.p) : head.n);
		if (!may_come_first(line))
			return false;
		if (line.p[0] == '{' && pd_json_members(line, j->fields, PD_JSONL_FIELDS)) {
			/* Two objects are lines, whatever their fields; one without our fields is any file of JSON. */
			if (any_field(j) || ++objects == 2)
				return true;
		}
		head = bare(pd_span(line.p + line.n, head.n - line.n));
	}
	return false;
}
