/* SPDX-License-Identifier: MIT
 *
 * Which lines are prose is decided by length, punctuation and links (the shallow text features of Kohlschütter et
 * al., "Boilerplate Detection using Shallow Text Features", WSDM 2010), of what flows together rather than of one
 * line, so that a poem, a list of dates or an old page's <br> lines are not lost.
 */
#include "topic/lines.h"

#include <stdlib.h>

enum { FLOW_DEPTH = 8 };	/* a cell of a list in a table in a quotation … is still its home's */

const struct pd_weights pd_weights_default = {
#define X(name, value, meaning) .name = value,
#include "topic/weights.def"
#undef X
};

static bool wide_stop(const char *p)
{
	static const char stops[][4] = { "，", "。", "！", "？", "；", "、", "：", "…", "।", "؟", "،" };
	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
		if (memcmp(p, stops[i], strlen(stops[i])) == 0)
			return true;
	return false;
}

/* A stop of ASCII counts where a space or nothing follows: "3.14" and "a.org" have none. */
static bool has_stop(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == '.' || c == ',' || c == '!' || c == '?' || c == ';') {
			if (i + 1 == s.n || s.p[i + 1] == ' ' || s.p[i + 1] == '"')
				return true;
		} else if (c >= 0xD8 && i + 3 <= s.n && wide_stop(s.p + i)) {
			return true;
		}
	}
	return false;
}

static void add_run(struct pd_lines *l, const struct pd_blocks *in, size_t i)
{
	const struct pd_run *r = &in->runs[i];
	if (i == 0 || r->flags & PD_RUN_LINE || r->box != l->v[l->n - 1].box) {
		l->v = pd_grow(l->v, l->n, &l->cap, sizeof(*l->v));
		l->v[l->n++] = (struct pd_line){ .first_run = (uint32_t)i, .box = r->box };
	}
	struct pd_line *line = &l->v[l->n - 1];
	l->of_run[i] = (uint32_t)(l->n - 1);
	line->end_run = (uint32_t)(i + 1);
	line->mass += r->n;
	line->chars += r->chars;
	if (r->flags & PD_RUN_LINK)
		line->link_mass += r->n;
	else if (!line->stop)
		line->stop = has_stop(pd_run_text(in, r));
}

/* Elements that are part of a text's flow, not a region of the page. */
static bool is_flow(uint16_t tag)
{
	switch (tag) {
	case PD_TAG_p:
	case PD_TAG_blockquote:
	case PD_TAG_pre:
	case PD_TAG_center:
	case PD_TAG_ul:
	case PD_TAG_ol:
	case PD_TAG_li:
	case PD_TAG_dl:
	case PD_TAG_dt:
	case PD_TAG_dd:
	case PD_TAG_table:
	case PD_TAG_caption:
	case PD_TAG_tr:
	case PD_TAG_td:
	case PD_TAG_th:
	case PD_TAG_h2:
	case PD_TAG_h3:
	case PD_TAG_h4:
	case PD_TAG_h5:
	case PD_TAG_h6:
		return true;
	default:
		return false;
	}
}

/* A div without a name around one line: it lays out a paragraph. */
static bool is_wrapper(const struct pd_lines *l, const struct pd_box *b)
{
	return b->tag == PD_TAG_div && !b->klass.n && !b->ident.n && pd_lines_end(l, b) - pd_lines_first(l, b) == 1;
}

static uint32_t home_of(const struct pd_lines *l, const struct pd_blocks *in, uint32_t box)
{
	for (int i = 0; i < FLOW_DEPTH && box; i++) {
		const struct pd_box *b = &in->boxes[box];
		if (!is_flow(b->tag) && !is_wrapper(l, b))
			break;
		box = b->parent;
	}
	return box;
}

static void find_homes(struct pd_lines *l, const struct pd_blocks *in)
{
	l->homes = pd_grow(l->homes, in->n_boxes, &l->cap_homes, sizeof(*l->homes));
	memset(l->homes, 0, in->n_boxes * sizeof(*l->homes));
	for (size_t i = 0; i < l->n; i++) {
		struct pd_line *line = &l->v[i];
		bool same = i && line->box == line[-1].box;
		line->home = same ? line[-1].home : home_of(l, in, line->box);
		if (in->boxes[line->box].tag != PD_TAG_p)
			continue;
		l->homes[line->home].mass += line->mass;
		l->homes[line->home].link_mass += line->link_mass;
	}
}

/* Lines i..end are those of one box that only <br> parts. */
static bool is_prose(const struct pd_lines *l, const struct pd_blocks *in, size_t i, size_t end)
{
	uint64_t mass = 0, link_mass = 0;
	bool stop = false;
	const struct pd_weights *w = l->weights;
	const struct pd_home *home = &l->homes[l->v[i].home];
	bool paragraph = in->boxes[l->v[i].box].tag == PD_TAG_p;
	for (; i < end; i++) {
		mass += l->v[i].mass;
		link_mass += l->v[i].link_mass;
		stop |= l->v[i].stop;
	}
	if (paragraph && home->mass >= w->flow_mass && home->link_mass < w->flow_links * home->mass)
		return true;
	if ((double)link_mass > w->prose_links * (double)mass)
		return false;
	return (double)mass >= (stop ? w->prose_stop : w->prose_plain);
}

static bool is_notice(const struct pd_lines *l, const struct pd_blocks *in, size_t i, size_t end, bool sentences)
{
	const struct pd_run *first = &in->runs[l->v[i].first_run], *last = &in->runs[l->v[end - 1].end_run - 1];
	return pd_is_notice(l->phrases, pd_span(in->text.p + first->at, last->at + last->n - first->at), sentences);
}

static void find_prose(struct pd_lines *l, const struct pd_blocks *in)
{
	for (size_t i = 0, end; i < l->n; i = end) {
		for (end = i + 1; end < l->n && l->v[end].box == l->v[i].box; end++)
			;
		bool prose = is_prose(l, in, i, end), notice = is_notice(l, in, i, end, prose);
		for (size_t k = i; k < end; k++) {
			l->v[k].notice = notice || (end > i + 1 && is_notice(l, in, k, k + 1, prose));
			l->v[k].prose = prose && !l->v[k].notice && l->v[k].link_mass < l->v[k].mass;
		}
	}
}

static void sum_up(struct pd_lines *l)
{
	l->sums = pd_grow(l->sums, l->n, &l->cap_sums, sizeof(*l->sums));
	struct pd_line_sum sum = { 0 };
	for (size_t i = 0; i < l->n; i++) {
		const struct pd_line *line = &l->v[i];
		l->sums[i] = sum;
		sum.mass += line->mass;
		sum.link_mass += line->link_mass;
		sum.notices += line->notice;
		if (line->prose)
			sum.prose += line->mass - line->link_mass;
	}
	l->sums[l->n] = sum;
}

void pd_lines_cut(struct pd_lines *l, const struct pd_blocks *in)
{
	l->n = 0;
	l->of_run = pd_grow(l->of_run, in->n_runs, &l->cap_of, sizeof *l->of_run);
	for (size_t i = 0; i < in->n_runs; i++)
		add_run(l, in, i);
	l->of_run[in->n_runs] = (uint32_t)l->n;
}

void pd_lines_judge(struct pd_lines *l, const struct pd_blocks *in, const struct pd_weights *w)
{
	l->weights = w;
	find_homes(l, in);
	find_prose(l, in);
	sum_up(l);
}

void pd_lines_release(struct pd_lines *l)
{
	free(l->v);
	free(l->sums);
	free(l->of_run);
	free(l->homes);
	*l = (struct pd_lines){ 0 };
}
