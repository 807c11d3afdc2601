/* SPDX-License-Identifier: MIT
 *
 * Shared by the tests of the main extractor: the blocks of a page and its topic, found with the defaults, with an
 * explanation of every decision.
 */
#ifndef TOPIC_FIXTURE_H
#define TOPIC_FIXTURE_H

#include <check.h>

#include "page/blocks.h"
#include "term/dict.h"
#include "topic/topic.h"

static struct pd_dict *dict;
static struct pd_segmenter *segmenter;
static struct pd_html *html;
static struct pd_topic_finder *finder;
static struct pd_blocks blocks;
static struct pd_topic topic;

static void setup(void)
{
	struct pd_err e = { 0 };
	ck_assert_msg(pd_dict_builtin(&dict, &e) == 0, "%s", e.text);
	struct pd_segmenter_options so = { dict, NULL, PD_SEGMENT_PROBABILITY };
	struct pd_html_options ho = PD_HTML_DEFAULTS;
	struct pd_topic_options to = PD_TOPIC_DEFAULTS;
	to.explain = true;
	segmenter = pd_segmenter_new(&so);
	html = pd_html_new(&ho);
	finder = pd_topic_finder_new(&to, segmenter);
}

static void teardown(void)
{
	pd_topic_release(&topic);
	pd_blocks_release(&blocks);
	pd_topic_finder_free(finder);
	pd_html_free(html);
	pd_segmenter_free(segmenter);
	pd_dict_free(dict);
}

#endif
