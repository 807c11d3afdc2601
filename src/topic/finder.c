/* SPDX-License-Identifier: MIT
 *
 * The frame of both extractors: it calls the one that the options name for text and anchor text; title and metadata are
 * the same for both.  The extractor `paper` is here too; `main` is in extract.c.
 */
#include <stdlib.h>

#include "term/fold.h"
#include "term/wordfiles.h"
#include "topic/finder.h"

const char *pd_feature_name(enum pd_feature_kind k)
{
	static const char *const names[PD_FEATURE_COUNT] = { "title", "meta", "text", "anchor" };
	return names[k];
}

const char *const pd_topic_class_names[PD_TOPIC_CLASSES] = { "none", "noise", "title", "topic", "topic-anchor" };

struct pd_topic_finder *pd_topic_finder_new(const struct pd_topic_options *o, struct pd_segmenter *segmenter)
{
	struct pd_topic_finder *f = pd_zalloc(sizeof(*f));
	f->options = *o;
	f->segmenter = segmenter;
	f->main = pd_extractor_new(o->weights);
	f->folder = pd_folder_new();
	return f;
}

void pd_topic_finder_free(struct pd_topic_finder *f)
{
	if (!f)
		return;
	pd_buf_release(&f->scratch);
	pd_extractor_free(f->main);
	pd_terms_release(&f->paper.terms);
	free(f->paper.blocks);
	free(f->paper.longest);
	free(f->paper.other);
	pd_folder_free(f->folder);
	pd_buf_release(&f->folded);
	free(f);
}

void pd_topic_release(struct pd_topic *t)
{
	pd_terms_release(&t->terms);
	free(t->features);
	pd_buf_release(&t->text);
	pd_buf_release(&t->anchor_text);
	free(t->decisions);
	free(t->classes);
	*t = (struct pd_topic){ 0 };
}

static void topic_clear(struct pd_topic *t)
{
	pd_terms_clear(&t->terms);
	pd_buf_clear(&t->text);
	pd_buf_clear(&t->anchor_text);
	t->n_features = t->n_decisions = 0;
	t->step = NULL;
	t->kind = PD_KIND_NONE;
	t->confidence = 0;
	t->flags = 0;
}

/* Titles are separate in both extractors: <title>, and headings that are in no block. */
static void add_titles(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out)
{
	size_t first = out->terms.n;
	for (uint32_t i = 0; i < in->n_blocks; i++) {
		if (!in->blocks[i].title)
			continue;
		pd_buf_clear(&f->scratch);
		pd_block_text(in, i, false, &f->scratch);
		pd_topic_terms(f, PD_FEATURE_TITLE, pd_buf_span(&f->scratch), out);
	}
	pd_topic_feature(out, PD_FEATURE_TITLE, first);
}

static void add_meta(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out)
{
	size_t first = out->terms.n;
	pd_topic_terms(f, PD_FEATURE_META, in->meta.keywords, out);
	pd_topic_terms(f, PD_FEATURE_META, in->meta.description, out);
	pd_topic_feature(out, PD_FEATURE_META, first);
}

/* ==== the extractor `paper` ====
 *
 * Patent CN101645082, module 230, exactly.  The longest block that is not a title is topic.  Another block is topic if
 * it shares more than .3 of the smaller of the two term streams with the longest block.  A topic block with more than
 * .7 links is topic-anchor.  The terms of the longest block are sorted and counted once, those of the other blocks in
 * turn: O(n log n) in terms. */

/* The terms of a block. */
struct pd_paper_block {
	size_t first, end;
	double similarity, anchors;
	bool topic, anchor;
};

/* A term and its number of occurrences. */
struct pd_term_count {
	uint64_t hash;
	size_t n;
};

/* Remove stop words: blocks are always compared without them, even if the features keep them. */
static void drop_stop_words(struct pd_topic_finder *f, size_t from)
{
	struct pd_paper *p = &f->paper;
	const struct pd_stopwords *stop = f->options.stopwords;
	size_t n = from;
	for (size_t i = from; i < p->terms.n && stop; i++)
		if (!pd_stopwords_has(stop, p->terms.v[i].hash))
			p->terms.v[n++] = p->terms.v[i];
	p->terms.n = stop ? n : p->terms.n;
}

static void segment_blocks(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	struct pd_paper *p = &f->paper;
	pd_terms_clear(&p->terms);
	for (uint32_t i = 0; i < in->n_blocks; i++) {
		p->blocks = pd_grow(p->blocks, i, &p->cap_blocks, sizeof(*p->blocks));
		struct pd_paper_block *b = &p->blocks[i];
		*b = (struct pd_paper_block){ .first = p->terms.n };
		if (!in->blocks[i].title) {
			pd_buf_clear(&f->scratch);
			pd_block_text(in, i, false, &f->scratch);
			if (f->scratch.n)
				pd_segment(f->segmenter, pd_buf_span(&f->scratch), &p->terms);
			drop_stop_words(f, b->first);
		}
		b->end = p->terms.n;
	}
}

static int term_order(const void *a, const void *b)
{
	uint64_t x = ((const struct pd_term_count *)a)->hash, y = ((const struct pd_term_count *)b)->hash;
	return (x > y) - (x < y);
}

/* Return the number of different terms of a block, and list them with their counts, by hash. */
static size_t count_terms(const struct pd_terms *t, const struct pd_paper_block *b, struct pd_term_count **out, size_t *cap)
{
	size_t n = b->end - b->first, kinds = 0;
	*out = pd_grow(*out, n, cap, sizeof(**out));
	for (size_t i = 0; i < n; i++)
		(*out)[i] = (struct pd_term_count){ t->v[b->first + i].hash, 1 };
	qsort(*out, n, sizeof(**out), term_order);
	for (size_t i = 0; i < n; i++) {
		if (kinds && (*out)[kinds - 1].hash == (*out)[i].hash)
			(*out)[kinds - 1].n++;
		else
			(*out)[kinds++] = (*out)[i];
	}
	return kinds;
}

/* Return the size of the multiset intersection; the terms of `b` are looked up in `a`. */
static size_t common_terms(const struct pd_term_count *a, size_t n_a, const struct pd_term_count *b, size_t n_b)
{
	size_t sum = 0;
	for (size_t i = 0; i < n_b; i++) {
		const struct pd_term_count *same = bsearch(&b[i], a, n_a, sizeof(*a), term_order);
		if (same)
			sum += same->n < b[i].n ? same->n : b[i].n;
	}
	return sum;
}

/* Return n_blocks if all are titles. */
static uint32_t longest_block(const struct pd_blocks *in)
{
	uint32_t best = (uint32_t)in->n_blocks;
	for (uint32_t i = 0; i < in->n_blocks; i++)
		if (!in->blocks[i].title && (best == in->n_blocks || in->blocks[i].chars > in->blocks[best].chars))
			best = i;
	return best;
}

static void compare_blocks(struct pd_topic_finder *f, const struct pd_blocks *in, uint32_t a)
{
	struct pd_paper *p = &f->paper;
	const struct pd_paper_block *longest = &p->blocks[a];
	size_t n_a = count_terms(&p->terms, longest, &p->longest, &p->cap_longest);
	for (uint32_t i = 0; i < in->n_blocks; i++) {
		struct pd_paper_block *b = &p->blocks[i];
		size_t n = b->end - b->first, m = longest->end - longest->first;
		if (in->blocks[i].title || i == a || !n || !m)
			continue;
		size_t n_b = count_terms(&p->terms, b, &p->other, &p->cap_other);
		b->similarity = (double)common_terms(p->longest, n_a, p->other, n_b) / (double)(n < m ? n : m);
		b->topic = b->similarity > f->options.min_similarity;
	}
	p->blocks[a].topic = true;
	p->blocks[a].similarity = 1;
}

static void find_anchors(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	struct pd_paper *p = &f->paper;
	for (uint32_t i = 0; i < in->n_blocks; i++) {
		struct pd_paper_block *b = &p->blocks[i];
		const struct pd_block *block = &in->blocks[i];
		b->anchors = block->chars ? (double)block->anchor_chars / block->chars : 0;
		b->anchor = b->topic && b->anchors > f->options.max_anchors;
	}
}

/* Add the text of topic blocks, or the anchor text of topic-anchor blocks, with its terms as one feature. */
static void add_block_texts(struct pd_topic_finder *f, const struct pd_blocks *in, bool anchor, struct pd_topic *out)
{
	struct pd_paper *p = &f->paper;
	enum pd_feature_kind kind = anchor ? PD_FEATURE_ANCHOR : PD_FEATURE_TEXT;
	struct pd_buf *text = anchor ? &out->anchor_text : &out->text;
	size_t first = out->terms.n;
	for (uint32_t i = 0; i < in->n_blocks; i++) {
		if (!p->blocks[i].topic || p->blocks[i].anchor != anchor)
			continue;
		pd_buf_clear(&f->scratch);
		pd_block_text(in, i, anchor, &f->scratch);
		pd_topic_terms(f, kind, pd_buf_span(&f->scratch), out);
		if (text->n && f->scratch.n)
			pd_buf_add_c(text, '\n');
		pd_buf_add_span(text, pd_buf_span(&f->scratch));
	}
	pd_topic_feature(out, kind, first);
}

static struct pd_span first_text(const struct pd_blocks *in, uint32_t i)
{
	const struct pd_block *b = &in->blocks[i];
	return b->first_run < b->end_run ? pd_run_text(in, &in->runs[b->first_run]) : pd_span(NULL, 0);
}

static void explain_blocks(const struct pd_topic_finder *f, const struct pd_blocks *in, uint32_t a, struct pd_topic *out)
{
	const struct pd_paper *p = &f->paper;
	for (uint32_t i = 0; i < in->n_blocks; i++) {
		const struct pd_paper_block *b = &p->blocks[i];
		struct pd_decision d = {
			.index = i, .kept = true, .value = b->similarity, .chars = in->blocks[i].chars, .text = first_text(in, i)
		};
		if (in->blocks[i].title) {
			d.label = d.rule = "title";
		} else if (b->anchor) {
			d.label = "topic-anchor";
			d.rule = "anchors";
			d.value = b->anchors;
		} else {
			d.kept = b->topic;
			d.label = b->topic ? "topic" : "noise";
			d.rule = i == a ? "longest" : "similarity";
		}
		pd_topic_decide(out, &d);
	}
}

static void mark_block_classes(const struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out)
{
	for (size_t i = 0; i < in->n_runs; i++) {
		uint32_t block = in->runs[i].block;
		if (block == PD_BLOCK_NONE)
			continue;
		const struct pd_paper_block *b = &f->paper.blocks[block];
		out->classes[i] = in->blocks[block].title ? PD_TOPIC_CLASS_TITLE
				  : b->anchor		  ? PD_TOPIC_CLASS_ANCHOR
				  : b->topic		  ? PD_TOPIC_CLASS_TOPIC
							  : PD_TOPIC_CLASS_NOISE;
	}
}

/* Return the share of topic text in the text of all blocks. */
static double topic_share(const struct pd_topic_finder *f, const struct pd_blocks *in)
{
	const struct pd_paper *p = &f->paper;
	double all = 0, kept = 0;
	for (uint32_t i = 0; i < in->n_blocks; i++) {
		double plain = in->blocks[i].title ? 0 : in->blocks[i].chars - in->blocks[i].anchor_chars;
		all += plain;
		kept += p->blocks[i].topic ? plain : 0;
	}
	return all > 0 ? kept / all : 0;
}

static void find_by_paper(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out)
{
	uint32_t a = longest_block(in);
	segment_blocks(f, in);
	if (a < in->n_blocks) {
		compare_blocks(f, in, a);
		find_anchors(f, in);
		add_block_texts(f, in, false, out);
		add_block_texts(f, in, true, out);
		out->confidence = topic_share(f, in);
	}
	if (f->options.explain)
		explain_blocks(f, in, a, out);
	if (f->options.classes)
		mark_block_classes(f, in, out);
}

/* ==== both extractors ==== */

static void clear_classes(const struct pd_blocks *in, struct pd_topic *out)
{
	if (out->cap_classes < in->n_runs || !out->classes) {
		free(out->classes);
		out->cap_classes = in->n_runs + 1;
		out->classes = pd_alloc(out->cap_classes);
	}
	memset(out->classes, PD_TOPIC_CLASS_NONE, in->n_runs);
}

int pd_topic_find(struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_site *site, struct pd_topic *out)
{
	topic_clear(out);
	if (f->segmenter)
		pd_segmenter_page(f->segmenter, pd_buf_span(&in->text));
	if (f->options.classes)
		clear_classes(in, out);
	add_titles(f, in, out);
	add_meta(f, in, out);
	if (f->options.method == PD_TOPIC_PAPER)
		find_by_paper(f, in, out);
	else
		pd_topic_main(f, in, site, out);
	return PD_OK;
}
