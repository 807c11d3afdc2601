/* SPDX-License-Identifier: MIT */
#include "topic/lines.h"

#include <stdlib.h>
#include <string.h>

enum { FLOW_DEPTH = 8 }; /* a cell of a list in a table in a quotation … still belongs to the flow */

static bool wide_stop(const char *p)
{
	static const char stops[][4] = { "，", "。", "！", "？", "；", "、", "：", "…", "।", "؟", "،" };
	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
		if (memcmp(p, stops[i], strlen(stops[i])) == 0)
			return true;
	return false;
}

/* First bytes of stops. */
static const bool maybe_stop[256] = {
	['.'] = 1, [','] = 1, ['!'] = 1, ['?'] = 1, [';'] = 1, [0xD8] = 1, [0xE0] = 1, [0xE2] = 1, [0xE3] = 1, [0xEF] = 1,
};

/* A stop in ASCII must be followed by a space or the end: "3.14" and "a.org" have none. */
static bool has_stop(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (!maybe_stop[c])
			continue;
		if (c < 0x80) {
			if (i + 1 == s.n || s.p[i + 1] == ' ' || s.p[i + 1] == '"')
				return true;
		} else if (i + 3 <= s.n && wide_stop(s.p + i)) {
			return true;
		}
	}
	return false;
}

static bool begins_line(const struct pd_blocks *in, size_t run)
{
	const struct pd_run *r = &in->runs[run];
	return run == 0 || r->flags & PD_RUN_LINE || r->box != r[-1].box;
}

size_t pd_topic_count_lines(const struct pd_blocks *in)
{
	size_t n = 0;
	for (size_t i = 0; i < in->n_runs; i++)
		n += begins_line(in, i);
	return n;
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
	case PD_TAG_h6: return true;
	default: return false;
	}
}

/* Return whether line i is prose.  Lines i..end are the lines of one box that are separated only by <br>. */
static bool is_prose(const struct pd_topic_lines *l, const struct pd_blocks *in, size_t i, size_t end)
{
	uint64_t mass = 0, link_mass = 0;
	bool stop = false;
	const struct pd_weights *w = l->weights;
	const struct pd_flow_sum *flow = &l->flows[l->v[i].flow];
	bool paragraph = in->boxes[l->v[i].box].tag == PD_TAG_p;
	for (; i < end; i++) {
		mass += l->v[i].mass;
		link_mass += l->v[i].link_mass;
		stop |= l->v[i].stop;
	}
	if (paragraph && flow->mass >= w->flow_mass && flow->link_mass < w->flow_links * flow->mass)
		return true;
	if ((double)link_mass > w->prose_links * (double)mass)
		return false;
	return (double)mass >= (stop ? w->prose_stop : w->prose_plain);
}

static bool is_notice(const struct pd_topic_lines *l, const struct pd_blocks *in, size_t i, size_t end, bool sentences)
{
	const struct pd_run *first = &in->runs[l->v[i].first_run], *last = &in->runs[l->v[end - 1].end_run - 1];
	return l->weights->notices > 0 &&
	       pd_is_notice(l->cues, pd_span(in->text.p + first->at, last->at + last->n - first->at), sentences);
}

/* Find the flow of each line, and sum the paragraphs of flows. */
static void find_flows(struct pd_topic_lines *l, const struct pd_blocks *in)
{
	l->flows = pd_grow(l->flows, in->n_boxes, &l->cap_flows, sizeof(*l->flows));
	memset(l->flows, 0, in->n_boxes * sizeof(*l->flows));
	for (size_t i = 0; i < l->n; i++) {
		struct pd_line *line = &l->v[i];
		bool same = i && line->box == line[-1].box;
		uint32_t box = same ? line[-1].flow : line->box;
		for (int depth = 0; !same && depth < FLOW_DEPTH && box; depth++) {
			const struct pd_box *b = &in->boxes[box];
			/* A div without a name around one line lays out a paragraph. */
			bool wrapper =
				b->tag == PD_TAG_div && !b->klass.n && !b->ident.n && pd_end_line(l, b) - pd_first_line(l, b) == 1;
			if (!is_flow(b->tag) && !wrapper)
				break;
			box = b->parent;
		}
		line->flow = box;
		if (in->boxes[line->box].tag != PD_TAG_p)
			continue;
		l->flows[line->flow].mass += line->mass;
		l->flows[line->flow].link_mass += line->link_mass;
	}
}

void pd_topic_find_lines(struct pd_topic_lines *l, const struct pd_blocks *in)
{
	l->n = 0;
	l->of_run = pd_grow(l->of_run, in->n_runs, &l->cap_of, sizeof *l->of_run);
	for (size_t i = 0; i < in->n_runs; i++) {
		const struct pd_run *r = &in->runs[i];
		if (begins_line(in, i)) {
			l->v = pd_grow(l->v, l->n, &l->cap, sizeof(*l->v));
			l->v[l->n] = (struct pd_line){ .first_run = (uint32_t)i, .box = r->box };
			l->v[l->n].stop = l->n_known && l->known[l->n] & PD_LINE_STOP;
			l->n++;
		}
		struct pd_line *line = &l->v[l->n - 1];
		l->of_run[i] = (uint32_t)(l->n - 1);
		line->end_run = (uint32_t)(i + 1);
		line->mass += r->n;
		line->chars += r->chars;
		if (r->flags & PD_RUN_LINK)
			line->link_mass += r->n;
		else if (!line->stop && !l->n_known)
			line->stop = has_stop(pd_run_text(in, r));
		line->bytes = line->mass;
		line->links = line->link_mass;
	}
	l->of_run[in->n_runs] = (uint32_t)l->n;
	if (l->n_known)
		return;
	l->known = pd_grow(l->known, l->n, &l->cap_known, sizeof *l->known);
	for (size_t i = 0; i < l->n; i++)
		l->known[i] = l->v[i].stop ? PD_LINE_STOP : 0;
	l->n_known = l->n;
}

void pd_topic_weigh_lines(struct pd_topic_lines *l, const struct pd_blocks *in, const struct pd_weights *w)
{
	l->weights = w;
	find_flows(l, in);

	/* The lines i..end of one box are separated only by <br>. */
	for (size_t i = 0, end; i < l->n; i = end) {
		for (end = i + 1; end < l->n && l->v[end].box == l->v[i].box; end++)
			;
		bool prose = is_prose(l, in, i, end);
		uint8_t as = prose ? PD_LINE_AS_SENTENCES : PD_LINE_AS_OTHER;
		if (!(l->known[i] & as)) {
			bool all = is_notice(l, in, i, end, prose);
			for (size_t k = i; k < end; k++) {
				bool notice = all || (end > i + 1 && is_notice(l, in, k, k + 1, prose));
				l->known[k] &= (uint8_t) ~(PD_LINE_NOTICE | PD_LINE_AS_SENTENCES | PD_LINE_AS_OTHER);
				l->known[k] |= (uint8_t)((notice ? PD_LINE_NOTICE : 0) | as);
			}
		}
		for (size_t k = i; k < end; k++) {
			l->v[k].notice = l->known[k] & PD_LINE_NOTICE;
			l->v[k].prose = prose && !l->v[k].notice && l->v[k].link_mass < l->v[k].mass;
		}
	}

	l->sums = pd_grow(l->sums, l->n, &l->cap_sums, sizeof(*l->sums));
	struct pd_line_sum sum = { 0 };
	for (size_t i = 0; i < l->n; i++) {
		const struct pd_line *line = &l->v[i];
		l->sums[i] = sum;
		sum.mass += line->mass;
		sum.link_mass += line->link_mass;
		sum.notices += line->notice;
		if (line->site && !(in->runs[line->first_run].flags & PD_RUN_LINK))
			sum.labels += pd_line_text(in, line).n;
		if (line->prose)
			sum.prose += line->mass - line->link_mass;
	}
	l->sums[l->n] = sum;
}

void pd_topic_release_lines(struct pd_topic_lines *l)
{
	free(l->v);
	free(l->known);
	free(l->sums);
	free(l->of_run);
	free(l->flows);
	*l = (struct pd_topic_lines){ 0 };
}
