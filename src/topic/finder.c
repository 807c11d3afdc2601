/* SPDX-License-Identifier: MIT
 *
 * M5's frame: the extractor that the options name finds text and anchor text; title and metadata are the same for
 * both.
 */
#include "topic/topic.h"

#include <stdlib.h>

#include "topic/finder.h"

const char *pd_feature_name(enum pd_feature_kind k)
{
	static const char *const names[PD_FEATURE_COUNT] = { "title", "meta", "text", "anchor" };
	return names[k];
}

struct pd_topic_finder *pd_topic_finder_new(const struct pd_topic_options *o, struct pd_segmenter *segmenter)
{
	struct pd_topic_finder *f = pd_zalloc(sizeof(*f));
	f->options = *o;
	f->segmenter = segmenter;
	f->main = pd_extractor_new(o->weights);
	f->paper = pd_paper_new();
	return f;
}

void pd_topic_finder_site(struct pd_topic_finder *f, const struct pd_site *site)
{
	f->site = site ? *site : (struct pd_site){ 0 };
}

void pd_topic_finder_free(struct pd_topic_finder *f)
{
	if (!f)
		return;
	pd_buf_release(&f->scratch);
	pd_extractor_free(f->main);
	pd_paper_free(f->paper);
	free(f);
}

void pd_topic_release(struct pd_topic *t)
{
	pd_terms_release(&t->terms);
	free(t->features);
	pd_buf_release(&t->text);
	pd_buf_release(&t->anchor_text);
	free(t->decisions);
	*t = (struct pd_topic){ 0 };
}

static void topic_clear(struct pd_topic *t)
{
	pd_terms_clear(&t->terms);
	pd_buf_clear(&t->text);
	pd_buf_clear(&t->anchor_text);
	t->n_features = t->n_decisions = 0;
	t->step = NULL;
	t->confidence = 0;
	t->flags = 0;
}

/* Title tags stand for themselves in both extractors: <title> and the headings that no block lies in. */
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

int pd_topic_find(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out)
{
	topic_clear(out);
	add_titles(f, in, out);
	add_meta(f, in, out);
	if (f->options.method == PD_TOPIC_PAPER)
		pd_topic_paper(f, in, out);
	else
		pd_topic_main(f, in, out);
	return PD_OK;
}
