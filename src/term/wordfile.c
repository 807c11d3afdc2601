/* SPDX-License-Identifier: MIT */
#include "term/wordfile.h"

#include "base/file.h"
#include "base/utf8.h"

int pd_wordfile_open(struct pd_wordfile *f, const char *path, struct pd_err *e)
{
	*f = (struct pd_wordfile){ .path = path };
	int status = pd_read_file(path, &f->text, e);
	f->rest = pd_buf_span(&f->text);
	if (f->rest.n >= 3 && !memcmp(f->rest.p, "\xEF\xBB\xBF", 3))
		f->rest = pd_span(f->rest.p + 3, f->rest.n - 3);
	return status;
}

void pd_wordfile_release(struct pd_wordfile *f)
{
	pd_buf_release(&f->text);
}

static bool is_utf8(struct pd_span s)
{
	for (size_t at = 0, n; at < s.n; at += n) {
		n = pd_utf8_sequence(s.p + at, s.n - at);
		if (n == 0)
			return false;
	}
	return true;
}

int pd_wordfile_next(struct pd_wordfile *f, struct pd_span *line, struct pd_err *e)
{
	/* What follows the last line break is a line only when something stands there. */
	if (!f->rest.n || !pd_span_split(&f->rest, '\n', line))
		return 0;
	f->number++;
	*line = pd_span_trim(*line);
	return is_utf8(*line) ? 1 : pd_wordfile_fail(f, e, "the line is not UTF-8");
}

static size_t space_at(struct pd_span s)
{
	if (pd_ascii_space(s.p[0]))
		return 1;
	return s.n >= 3 && !memcmp(s.p, "\u3000", 3) ? 3 : 0;
}

bool pd_wordfile_word(struct pd_span *line, struct pd_span *word)
{
	size_t n;
	while (line->n && (n = space_at(*line)))
		*line = pd_span(line->p + n, line->n - n);
	for (*word = pd_span(line->p, 0); line->n && !space_at(*line); word->n++)
		*line = pd_span(line->p + 1, line->n - 1);
	return word->n > 0;
}

int pd_wordfile_fail(const struct pd_wordfile *f, struct pd_err *e, const char *why)
{
	return pd_fail(e, PD_ERR_DICT, "%s:%zu: %s", f->path, f->number, why);
}
