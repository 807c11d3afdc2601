/* SPDX-License-Identifier: MIT
 *
 * The method `punctuation` (background of patent CN101645082): at each mark of punctuation the terms on either side of it are a
 * feature code; pages that share more than so many codes, or more than a share of the shorter one's, are duplicates.  Marks are
 * those of views.h, Western and Chinese.
 *
 * Terms are counted before stop words go, so a code does not move when one is put in elsewhere.  Two codes count when they are
 * equal or when their content terms are: equal codes have equal content terms, so it is these that are hashed (a code of stop words
 * alone is hashed as it is), the mark between them.  `of=terms` asks for equal codes alone.
 */
#include <stdlib.h>

#include "sign/sign.h"
#include "sign/values.h"

enum { C, OF, CODES, SHARE };
enum { OF_CONTENT, OF_TERMS };

struct punctuation {
	const struct pd_secret *secret;
	size_t c;		/* terms on either side */
	bool content;
	struct pd_buf code;	/* hashes */
};

static int punctuation_open(void **state, const struct pd_method_open *with, struct pd_err *e)
{
	struct punctuation *s = pd_zalloc(sizeof *s);
	s->secret = with->fingerprint->secret;
	s->c = (size_t)with->value[C];
	s->content = (int)with->value[OF] == OF_CONTENT;
	*state = s;
	return PD_OK;
}

static void punctuation_close(void *state)
{
	struct punctuation *s = state;
	pd_buf_release(&s->code);
	free(s);
}

/* The places of the terms around a mark; none: it stands alone. */
struct around {
	size_t from, mark, to;
};

static bool look_around(const struct punctuation *s, const struct pd_words *w, size_t mark, struct around *out)
{
	size_t at = w->marks[mark];
	out->mark = at;
	out->from = at > s->c ? at - s->c : 0;
	out->to = w->terms.n - at > s->c ? at + s->c : w->terms.n;
	return out->to > out->from;
}

static bool has_content(const struct pd_words *w, const struct around *a)
{
	for (size_t i = a->from; i < a->to; i++)
		if (!w->v[i].stop)
			return true;
	return false;
}

static uint64_t hash_code(struct punctuation *s, const struct pd_words *w, const struct around *a)
{
	const uint64_t mark = 0;
	bool all = !s->content || !has_content(w, a);
	pd_buf_clear(&s->code);
	for (size_t i = a->from; i < a->to; i++) {
		if (i == a->mark)
			pd_buf_add(&s->code, &mark, sizeof mark);
		if (all || !w->v[i].stop) {
			uint64_t hash = pd_sign_hash_term(s->secret, &w->terms, &w->terms.v[i]);
			pd_buf_add(&s->code, &hash, sizeof hash);
		}
	}
	return pd_sign_hash64(s->secret, pd_buf_span(&s->code));
}

static void punctuation_sign(void *state, const struct pd_sign_page *in, struct pd_signature *out)
{
	struct punctuation *s = state;
	const struct pd_words *w = pd_sign_words(in);
	struct around a;
	for (size_t m = 0; m < w->n_marks; m++)
		if (look_around(s, w, m, &a))
			pd_value_add_item(&out->column, hash_code(s, w, &a));
	out->present = out->column.n > 0;
}

/* A line for each code: its hash, its terms with stop words in parentheses, "|" where the mark is. */
static int punctuation_explain(void *state, const struct pd_sign_page *in, struct pd_buf *out)
{
	struct punctuation *s = state;
	const struct pd_words *w = pd_sign_words(in);
	struct around a;
	for (size_t m = 0; m < w->n_marks; m++) {
		if (!look_around(s, w, m, &a))
			continue;
		pd_hex_add(out, hash_code(s, w, &a));
		pd_buf_add_c(out, '\t');
		for (size_t i = a.from; i < a.to; i++) {
			pd_buf_add_z(out, i == a.mark ? (i > a.from ? " | " : "| ") : i > a.from ? " " : "");
			pd_buf_add_z(out, w->v[i].stop ? "(" : "");
			pd_buf_add_span(out, pd_term_text(&w->terms, &w->terms.v[i]));
			pd_buf_add_z(out, w->v[i].stop ? ")" : "");
		}
		pd_buf_add_z(out, a.mark == a.to ? " |\n" : "\n");
	}
	return PD_OK;
}

/* More than so many, so one more at least. */
static void punctuation_rule(const double *value, struct pd_sign_rule *out)
{
	out->least = (uint64_t)value[CODES] + 1;
	out->over_share = value[SHARE] > 0 ? value[SHARE] : -1;
}

static const struct pd_method_param punctuation_params[] = {
	[C] = { .name = "c", .normal = 5, .paper = 5, .least = 1, .most = 1000, .whole = true, .help = "terms on either side of a mark" },
	[OF] = { .name = "of", .choices = "content,terms", .normal = OF_CONTENT, .paper = OF_CONTENT,
		 .help = "codes are equal by their terms but stop words, or by all" },
	[CODES] = { .name = "codes", .normal = 2, .paper = 25, .least = 0, .most = 1000000, .whole = true, .compares = true,
		    .help = "codes of which two pages must share more" },
	[SHARE] = { .name = "share", .normal = .7, .paper = 0, .least = 0, .most = .999, .compares = true,
		    .help = "and more than this share of the page with fewer; 0: any" },
	{ .name = NULL },
};

const struct pd_method pd_punctuation_method = {
	.name = "punctuation",
	.kind = PD_SIGN_SET,
	.summary = "pages with the same terms around their marks of punctuation",
	.params = punctuation_params,
	.open = punctuation_open,
	.close = punctuation_close,
	.sign = punctuation_sign,
	.explain = punctuation_explain,
	.rule = punctuation_rule,
};
