/* SPDX-License-Identifier: MIT */
#include "sign/subject.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/utf8.h"

enum { HEADINGS = 32, BYTES = 512 }; /* limits: headings per page, bytes of a heading or title */

/* Letters and digits of all scripts.  Characters beyond ASCII are included, except the blocks of signs. */
static bool is_word(uint32_t c)
{
	if (c < 0x80)
		return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
	return !(c <= 0xBF || c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c <= 0x2BFF) || (c >= 0x3000 && c <= 0x303F) ||
		 (c >= 0xFE30 && c <= 0xFE6F) || c == 0xFFFD);
}

/* Remove a section number, "2.3. ": one or two digits before a word. */
static struct pd_span without_number(struct pd_span s)
{
	for (;;) {
		size_t n = 0;
		while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
			n++;
		if (!n || n > 2 || n + 1 >= s.n || s.p[n] != ' ')
			return s;
		s = pd_span(s.p + n + 1, s.n - n - 1);
	}
}

/* Append the words, each preceded and followed by one space, so that whole words can be searched. */
static void add_folded_words(struct pd_span folded, struct pd_buf *out)
{
	const char *p = folded.p, *end = folded.p + folded.n;
	pd_buf_add_c(out, ' ');
	while (p < end) {
		const char *from = p;
		if (is_word(pd_utf8_next(&p)))
			pd_buf_add(out, from, (size_t)(p - from));
		else if (out->p[out->n - 1] != ' ')
			pd_buf_add_c(out, ' ');
	}
	if (out->p[out->n - 1] != ' ')
		pd_buf_add_c(out, ' ');
}

static uint32_t hash_words(struct pd_span words)
{
	struct pd_span s = without_number(pd_span_trim(words));
	return s.n ? (uint32_t)(pd_hash64(s.p, s.n) >> 32) | 1 : 0;
}

/* Return the folded text up to the mark before the name of the site. */
static struct pd_span before_site(struct pd_span title)
{
	static const char *const marks[] = { " - ",
					     " \xe2\x80\x93 ",
					     " \xe2\x80\x94 ",
					     "|",
					     " \xc2\xb7 ",
					     " \xc2\xbb ",
					     " :: ",
					     " : ",
					     ": ",
					     "_",
					     " > ",
					     " / ",
					     "\xe2\x80\x94\xe2\x80\x94" };
	for (size_t at = 1; at < title.n; at++)
		for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
			size_t n = strlen(marks[i]);
			if (n < title.n - at && !memcmp(title.p + at, marks[i], n))
				return pd_span(title.p, at);
		}
	return title;
}

static struct pd_span cut(struct pd_span s)
{
	if (s.n <= BYTES)
		return s;
	s.n = BYTES;
	while (s.n && ((unsigned char)s.p[s.n] & 0xC0) == 0x80)
		s.n--;
	return s;
}

static void read_title(struct pd_subject_finder *f, struct pd_span title, struct pd_subject *out)
{
	struct pd_span first;
	pd_buf_clear(&f->title);
	pd_fold(f->folder, cut(title), &f->folded);
	first = before_site(pd_buf_span(&f->folded));
	pd_buf_clear(&f->heading);
	add_folded_words(first, &f->heading);
	out->title = hash_words(pd_buf_span(&f->heading));
	add_folded_words(pd_buf_span(&f->folded), &f->title);
}

static bool is_heading(const struct pd_box *box)
{
	return (box->tag == PD_TAG_h1 || box->tag == PD_TAG_h2 || box->tag == PD_TAG_h3) && box->first_run < box->end_run;
}

/* Return whether a title consists of these two headings, in any order. */
static bool are_title(struct pd_span title, struct pd_span a, struct pd_span b)
{
	/* Each of the three begins and ends with a space; the headings share one. */
	if (a.n + b.n != title.n + 1)
		return false;
	return (!memcmp(title.p, a.p, a.n) && !memcmp(title.p + a.n - 1, b.p, b.n)) ||
	       (!memcmp(title.p, b.p, b.n) && !memcmp(title.p + b.n - 1, a.p, a.n));
}

void pd_subject_find(struct pd_subject_finder *f, const struct pd_blocks *b, struct pd_subject *out)
{
	struct pd_span chosen = { NULL, 0 }; /* in f->title */
	uint32_t first = 0;
	int seen = 0, firsts = 0;
	*out = (struct pd_subject){ 0 };
	read_title(f, b->meta.title, out);
	for (size_t i = 0; i < b->n_boxes && seen < HEADINGS; i++) {
		if (!is_heading(&b->boxes[i]))
			continue;
		/* Read the words of a heading into f->heading. */
		pd_buf_clear(&f->raw);
		pd_buf_clear(&f->heading);
		for (uint32_t j = b->boxes[i].first_run; j < b->boxes[i].end_run && f->raw.n < BYTES; j++) {
			if (b->runs[j].flags & PD_RUN_SPACE)
				pd_buf_add_c(&f->raw, ' ');
			pd_buf_add_span(&f->raw, pd_run_text(b, &b->runs[j]));
		}
		pd_fold(f->folder, cut(pd_buf_span(&f->raw)), &f->folded);
		add_folded_words(pd_buf_span(&f->folded), &f->heading);
		struct pd_span words = pd_buf_span(&f->heading);
		if (words.n < 2)
			continue;
		seen++;
		if (b->boxes[i].tag == PD_TAG_h1 && !firsts++)
			first = hash_words(words);
		const char *at = f->title.n ? memmem(f->title.p, f->title.n, words.p, words.n) : NULL;
		/* If a heading is the name of the site, the heading of the page comes after it, whatever its length. */
		if (at && (words.n > chosen.n || are_title(pd_buf_span(&f->title), words, chosen))) {
			chosen = pd_span(at, words.n);
			out->heading = hash_words(words);
		}
	}
	if (!chosen.n && firsts == 1)
		out->heading = first;
}

bool pd_subject_is_all(struct pd_subject_finder *f, const struct pd_subject *s, struct pd_span text)
{
	struct pd_span line;
	if (!text.n)
		return false;
	while (pd_span_split(&text, '\n', &line)) {
		if (line.n > BYTES)
			return false;
		pd_fold(f->folder, line, &f->folded);
		pd_buf_clear(&f->heading);
		add_folded_words(pd_buf_span(&f->folded), &f->heading);
		uint32_t words = hash_words(pd_buf_span(&f->heading));
		if (words && words != s->heading && words != s->title)
			return false;
	}
	return s->heading || s->title;
}

void pd_subject_finder_release(struct pd_subject_finder *f)
{
	pd_buf_release(&f->raw);
	pd_buf_release(&f->folded);
	pd_buf_release(&f->title);
	pd_buf_release(&f->heading);
}

/* Return the last meaningful part of the path, without its suffix: "https://a.example/fr/web-browsers.html?x" ->
 * "web-browsers". */
static struct pd_span last_segment(struct pd_span url)
{
	static const char *const suffixes[] = { ".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", "index" };
	ptrdiff_t host = pd_span_find(url, pd_span_z("://"));
	size_t begin = host > 0 ? (size_t)host + 3 : 0, end = begin;
	while (end < url.n && url.p[end] != '?' && url.p[end] != '#')
		end++;
	while (begin < end && url.p[begin] != '/')
		begin++;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t n = strlen(suffixes[i]);
		if (end - begin > n && !memcmp(url.p + end - n, suffixes[i], n))
			end -= n;
	}
	while (end > begin && url.p[end - 1] == '/')
		end--;
	size_t from = end;
	while (from > begin && url.p[from - 1] != '/')
		from--;
	return pd_span(url.p + from, end - from);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

enum number_kind { NUMBER, RELEASE, RECORD };

/* Return the length of the number at the start of a text, and its kind. */
static size_t number_length(struct pd_span s, enum number_kind *kind)
{
	size_t n = 0, run = 0, longest = 0, runs = 1;
	while (n < s.n && (is_digit(s.p[n]) || (n + 1 < s.n && strchr("._-", s.p[n]) && is_digit(s.p[n + 1])))) {
		run = is_digit(s.p[n]) ? run + 1 : 0;
		runs += !run;
		longest = run > longest ? run : longest;
		n++;
	}
	bool date = longest == 8 && (!memcmp(s.p, "19", 2) || !memcmp(s.p, "20", 2));
	*kind = runs > 1 && longest <= 3 ? RELEASE : runs == 1 && longest >= 5 && !date ? RECORD : NUMBER;
	return n;
}

/* Write the text in lower case, with one '#' for each number of a kind; NUMBER: of any kind.  Return its length, which
 * is at most that of the text. */
static size_t mask_numbers(struct pd_span text, enum number_kind wanted, bool *any, char *out)
{
	size_t n = 0;
	for (size_t i = 0; i < text.n;) {
		enum number_kind kind = NUMBER;
		size_t length = is_digit(text.p[i]) ? number_length(pd_span(text.p + i, text.n - i), &kind) : 0;
		if (length && (kind == wanted || wanted == NUMBER)) {
			out[n++] = '#';
			i += length;
			*any = true;
		} else
			for (size_t end = i + (length ? length : 1); i < end; i++)
				out[n++] = pd_ascii_lower(text.p[i]);
	}
	return n;
}

static bool has_letter(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] & 0x80 || (pd_ascii_lower(s.p[i]) >= 'a' && pd_ascii_lower(s.p[i]) <= 'z'))
			return true;
	return false;
}

/* `last`: the last part of the path, in the same text. */
static void read_address(struct pd_span url, struct pd_span last, struct pd_address *out)
{
	char text[2 * BYTES];
	const char *end = memchr(url.p, '#', url.n), *query = memchr(url.p, '?', url.n);
	ptrdiff_t host = pd_span_find(url, pd_span_z("://"));
	const char *path = url.p + (host > 0 ? host + 3 : 0);
	*out = (struct pd_address){ 0 };
	end = end ? end : url.p + url.n;
	query = query && query < end ? query : end;
	while (path < query && *path != '/')
		path++;
	struct pd_span folders = last.n ? pd_span(path, (size_t)(last.p - path)) : pd_span(path, 0);
	if (folders.n + last.n + (size_t)(end - query) > sizeof text)
		return;
	bool any = false;
	size_t n = mask_numbers(folders, NUMBER, &any, text);
	n += mask_numbers(last, NUMBER, &any, text + n);
	n += mask_numbers(pd_span(query, (size_t)(end - query)), NUMBER, &any, text + n);
	out->masked = pd_hash64(text, n) | 1;
	any = false;
	n = mask_numbers(last, RELEASE, &any, text);
	out->released = any ? pd_hash64_seed(text, n, pd_hash64(folders.p, folders.n)) | 1 : 0;
	any = false;
	n = mask_numbers(pd_span(folders.p, folders.n + last.n), RECORD, &any, text);
	out->recorded = any ? pd_hash64_seed(text, n, 2) | 1 : 0;
	out->whole = pd_hash64_seed(folders.p, folders.n + last.n, 1) | 1;
	out->query = (uint32_t)pd_hash64(query, (size_t)(end - query));
	out->last = last.n ? (uint32_t)pd_hash64(last.p, last.n) | 1 : 0;
	out->lettered = has_letter(last);
	/* Add the numbers in the folders before the last part of a path. */
	struct pd_span part;
	while (pd_span_split(&folders, '/', &part)) {
		bool number = false;
		for (size_t i = 0; i < part.n && !number; i++)
			number = is_digit(part.p[i]);
		if (number && out->n_numbers < PD_ADDRESS_NUMBERS)
			out->numbers[out->n_numbers] = (uint32_t)pd_hash64(part.p, part.n);
		out->n_numbers += number && out->n_numbers < UINT8_MAX;
	}
}

enum pd_addresses pd_addresses_compare(const struct pd_address *a, const struct pd_address *b)
{
	int numbers = 0;
	bool named = a->last && a->last == b->last && a->lettered, query = a->query == b->query;
	if (a->whole && a->whole == b->whole && query)
		return PD_ADDRESSES_SAME;
	if (!a->masked || a->masked != b->masked)
		return named ? PD_ADDRESSES_NAMED : PD_ADDRESSES_DIFFER;
	if (a->released && a->released == b->released && query)
		return PD_ADDRESSES_RELEASE;
	if (a->recorded && a->recorded == b->recorded && a->whole != b->whole && query)
		return PD_ADDRESSES_RECORDS;
	for (int i = 0; i < a->n_numbers && i < PD_ADDRESS_NUMBERS; i++)
		numbers += a->numbers[i] != b->numbers[i];
	return named && query && numbers == 1 && a->n_numbers <= PD_ADDRESS_NUMBERS ? PD_ADDRESSES_VERSION : PD_ADDRESSES_SERIES;
}

void pd_subject_set_url(struct pd_subject *s, struct pd_span url)
{
	enum { WORDS = 12 };
	char text[BYTES];
	size_t from[WORDS], to[WORDS], n = 0;
	struct pd_span part = last_segment(url);
	s->name = 0;
	s->named = false;
	read_address(url, part, &s->address);
	if (!part.n || part.n > sizeof text)
		return;
	for (size_t i = 0; i < part.n; i++) {
		bool word = part.p[i] & 0x80 || is_word((unsigned char)pd_ascii_lower(part.p[i]));
		text[i] = word ? pd_ascii_lower(part.p[i]) : ' ';
		if (word && (!i || text[i - 1] == ' ') && n < WORDS)
			from[n++] = i;
		if (word && n)
			to[n - 1] = i + 1;
	}
	s->name = hash_words(pd_span(text, part.n));
	for (size_t i = 0; i < n && !s->named; i++)
		for (size_t k = i; k < n && !s->named; k++) {
			uint32_t words = hash_words(pd_span(text + from[i], to[k] - from[i]));
			s->named = words && (words == s->heading || words == s->title);
		}
}

/* Compare a heading with the title of a page without one, which may begin with the name of the site. */
static enum pd_subjects compare_title(const struct pd_subject *with, const struct pd_subject *without)
{
	if (!without->title)
		return PD_SUBJECTS_UNKNOWN;
	return without->title == with->heading || without->title == with->title ? PD_SUBJECTS_SAME : PD_SUBJECTS_UNKNOWN;
}

enum pd_subjects pd_subjects_compare(const struct pd_subject *a, const struct pd_subject *b)
{
	if (a->heading && b->heading && a->heading != b->heading && a->heading != b->title && a->title != b->heading)
		return a->name && a->name == b->name && (a->named || b->named) ? PD_SUBJECTS_NAMED : PD_SUBJECTS_DIFFER;
	if (a->heading && b->heading)
		return PD_SUBJECTS_SAME;
	if (a->heading)
		return compare_title(a, b);
	if (b->heading)
		return compare_title(b, a);
	return !a->title || !b->title || a->title == b->title ? PD_SUBJECTS_UNKNOWN : PD_SUBJECTS_DIFFER;
}

void pd_subject_hex(const struct pd_subject *s, struct pd_buf *out)
{
	if (s->heading || s->title)
		pd_hex_add(out, (uint64_t)s->heading << 32 | s->title);
	else
		pd_buf_add_c(out, '-');
}
