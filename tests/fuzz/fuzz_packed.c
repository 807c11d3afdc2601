/* SPDX-License-Identifier: MIT
 *
 * Pack and unpack the bytes as a page: the result packs to the same bytes and gives the same main text, also with
 * the facts found earlier and with any boilerplate.  Then read the bytes as a packed page: it is refused, or all
 * offsets are inside it.
 */
#include "fuzz.h"
#include "run/packed.c" /* for its functions that are not exported */
#include "page/blocks.h"
#include "topic/site.h"
#include "topic/topic.h"

static struct pd_html *html;
static struct pd_topic_finder *finder;

static int key_order(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

/* `b` is `a` again. */
static void remember(const struct pd_blocks *a, const struct pd_blocks *b)
{
	struct pd_topic x = { 0 }, y = { 0 };
	struct pd_buf known = { 0 };
	uint64_t *keys = pd_alloc((a->n_runs + 1) * sizeof *keys);
	size_t n = 0;
	for (size_t i = 0; i < a->n_runs; i++) {
		struct pd_span text = pd_run_text(a, &a->runs[i]);
		uint64_t key = pd_hash64(text.p, text.n);
		if (key % 3 == 0)
			keys[n++] = key;
	}
	qsort(keys, n, sizeof *keys, key_order);
	struct pd_site site = { .lines = keys, .n_lines = n };
	pd_topic_find(finder, a, &site, &x);
	pd_topic_find(finder, a, NULL, &y);
	pd_topic_remember(finder, a, &known);
	HOLDS(pd_topic_recall(finder, b, pd_buf_span(&known)));
	pd_topic_find(finder, b, &site, &y);
	HOLDS(pd_span_eq(pd_buf_span(&x.text), pd_buf_span(&y.text)) && x.flags == y.flags && x.confidence == y.confidence);
	free(keys);
	pd_topic_release(&x);
	pd_topic_release(&y);
	pd_buf_release(&known);
}

static void there_and_back(struct pd_span page)
{
	struct pd_blocks a = { 0 }, b = { 0 };
	struct pd_topic x = { 0 }, y = { 0 };
	struct pd_buf packed = { 0 }, again = { 0 };
	pd_html_parse(html, page, false, &a);
	blocks_pack(&a, true, &packed);
	struct pd_packed in = { packed.p, packed.p + packed.n, false };
	HOLDS(blocks_unpack(&in, &b) && in.at == in.end);
	blocks_pack(&b, true, &again);
	HOLDS(pd_span_eq(pd_buf_span(&packed), pd_buf_span(&again)));
	pd_topic_find(finder, &a, NULL, &x);
	pd_topic_find(finder, &b, NULL, &y);
	HOLDS(pd_span_eq(pd_buf_span(&x.text), pd_buf_span(&y.text)) && x.flags == y.flags && a.noscript == b.noscript);
	remember(&a, &b);
	pd_blocks_release(&a);
	pd_blocks_release(&b);
	pd_topic_release(&x);
	pd_topic_release(&y);
	pd_buf_release(&packed);
	pd_buf_release(&again);
}

static void as_packed(struct pd_span bytes)
{
	struct pd_blocks b = { 0 };
	struct pd_packed in = { bytes.p, bytes.n ? bytes.p + bytes.n : bytes.p, false };
	if (blocks_unpack(&in, &b)) {
		struct pd_buf text = { 0 };
		for (size_t i = 0; i < b.n_runs; i++)
			fuzz_sum(pd_run_text(&b, &b.runs[i]));
		for (uint32_t i = 0; i < b.n_boxes; i++)
			HOLDS(b.boxes[i].parent == PD_BOX_NONE ? i == 0 : b.boxes[i].parent < i);
		blocks_pack(&b, true, &text);
		pd_buf_release(&text);
	}
	pd_blocks_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (!html) {
		struct pd_topic_options o = PD_TOPIC_DEFAULTS;
		o.skip_features = ~0u;
		html = pd_html_new(&(struct pd_html_options)PD_HTML_DEFAULTS);
		finder = pd_topic_finder_new(&o, NULL);
	}
	struct pd_span bytes = fuzz_span(data, n);
	if (fuzz_utf8(bytes))
		there_and_back(bytes);
	as_packed(bytes);
	return 0;
}
