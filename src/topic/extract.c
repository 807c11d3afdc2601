/* SPDX-License-Identifier: MIT
 *
 * The main extractor: lines and boxes -> the lines that are a page's main text, each kept or dropped by a named
 * rule. A few passes over arrays, no tree is built.  In order:
 *
 * 0. lines that the page's site is known to repeat weigh nothing (site.h);
 * 1. lines are prose by what they look like, and licences, copyright and the like never are (lines.c, notices.def);
 * boxes that say what they are (tag, role, class, id: hints.def) and lists of other pages are dropped
 * (chrome.c, cards.c);
 * 2. the box that holds the prose left is the region; what lies outside is dropped (region.c);
 * 3. inside, lines of links are dropped, and short lines that neither stand between prose nor flow with it, unless the page
 * is one of a manual (kind.c);
 * 4. lines that announce chrome take it along (sections.c: heads.def).
 *
 * Too little is worse than a little chrome, so there is a chain to fall back on, flagged PD_TOPIC_FALLBACK.  Its steps
 * by name: `rules` is what stands above.  Hints are believed less, level by level (enum pd_level), as long as that at
 * least doubles the prose that flows in one place (scraps from all over a page are no text, however many): `no-adverts` (what is named an
 * advert counts as text), `no-comments` (what readers wrote does), `tags` (names mislead, tags and roles
 * count), `no-hints`.  When hardly any text is kept and the page holds several times as much, `list`: all of it in its
 * densest region (products, links).  When nothing is kept, `page`: all that it shows.
 *
 * What others found and what is used here: text features and link density (Kohlschütter et al., WSDM 2010); blocks
 * judged with their neighbours (Pomikálek's jusText, 2011); density summed over a tree (Sun et al., CETD, SIGIR 2011);
 * names of classes and ids (Readability, 2009); a chain of extractors, so that no page is left without text
 * (Barbaresi's Trafilatura, ACL 2021).
 */
#include "base/hash.h"
#include "topic/finder.h"

/* With what the site repeats left out, the rules leave a page at least so many bytes, and at least one part in so many of
 * what they would without; else all is taken that is the page's own, if it is so much at least. */
enum { OWN_TEXT = 60, OWN_PART = 10, OWN_LEAST = 30 };
/* All is taken, too, where the page's own text has under so many bytes, of which the rules leave less than this share: where a
 * site's chrome is known, what else stands on a short page is its text. */
enum { OWN_SHORT = 500 };
#define OWN_SHARE .6
/* Flows are summed up by name in so many sums. */
enum { PLACES = 1021 };
#define RULES "rules"	/* the step that is no fallback */

static void drop_all(struct pd_topic_finder *f, size_t first, size_t end, const char *rule)
{
	for (size_t i = first; i < end; i++)
		if (!f->why[i])
			f->why[i] = rule;
}

static void drop_outside(struct pd_topic_finder *f, const struct pd_box *region)
{
	drop_all(f, 0, pd_lines_first(&f->lines, region), "outside");
	drop_all(f, pd_lines_end(&f->lines, region), f->lines.n, "outside");
}

/* Boxes of one name are one place: the posts of a thread, the parts of an article. */
static size_t place_of(const struct pd_blocks *in, uint32_t home)
{
	const struct pd_box *b = &in->boxes[home];
	return (b->klass.n ? pd_hash64(b->klass.p, b->klass.n) : home) % PLACES;
}

/* The most that flows in one place, prose or all text outside links: scraps from all over a page are no text, however many
 * they are. */
static double richest_flow(const struct pd_topic_finder *f, const struct pd_blocks *in, enum pd_live what)
{
	uint64_t flows[PLACES] = { 0 }, most = 0;
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct pd_line *l = &f->lines.v[i];
		if (f->why[i] || l->notice || (what == PD_LIVE_PROSE && !l->prose))
			continue;
		uint64_t *flow = &flows[place_of(in, l->home)];
		*flow += l->mass - l->link_mass;
		most = *flow > most ? *flow : most;
	}
	return (double)most;
}

/* The level that finds the prose; its boxes are dropped. */
static enum pd_level choose_level(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	enum pd_level best = PD_LEVEL_ALL;
	double found = 0, text = 0;
	pd_chrome_begin(f, in);
	for (enum pd_level level = PD_LEVEL_ALL; level < PD_LEVELS; level++) {
		pd_chrome_drop(f, in, level);
		double flow = richest_flow(f, in, PD_LIVE_PROSE);
		if (level == PD_LEVEL_ALL || flow > f->weights->level_gain * (found > text ? found : text)) {
			best = level;
			found = flow;
		}
		if (found >= (level < PD_LEVEL_TAGS ? f->weights->hint_enough : f->weights->tags_enough))
			break;
		if (level == PD_LEVEL_ALL)
			text = f->weights->level_text * richest_flow(f, in, PD_LIVE_TEXT);
	}
	pd_chrome_drop(f, in, best);
	pd_live_sum(f, PD_LIVE_PROSE);
	return best;
}

/* Lines of code, definitions and lists are parts of a text wherever they stand; others beside the prose are dates, names
 * and the like. */
static bool is_list_or_code(uint16_t tag)
{
	return tag == PD_TAG_pre || tag == PD_TAG_dt || tag == PD_TAG_dd || tag == PD_TAG_li;
}

/* Why a line that is no prose goes; `between`: prose stands before and after it. */
static const char *short_line(const struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_line *l,
	bool between)
{
	uint16_t tag = in->boxes[l->box].tag;
	bool flows = f->notes[l->home].home;
	if (f->kind == PD_KIND_REFERENCE)
		return NULL;
	bool kept = tag == PD_TAG_p || (tag >= PD_TAG_h1 && tag <= PD_TAG_h6);
	if (l->link_mass > f->weights->short_links * l->mass && !(flows && between && kept))
		return "links";
	return between || flows || is_list_or_code(tag) ? NULL : "apart";
}

/* Inside the region. */
static void drop_short(struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_box *region)
{
	size_t first = pd_lines_first(&f->lines, region), end = pd_lines_end(&f->lines, region);
	size_t first_prose = end, last_prose = first;
	for (size_t i = first; i < end; i++) {
		const struct pd_line *l = &f->lines.v[i];
		if (f->why[i] || !l->prose)
			continue;
		f->notes[l->home].home = true;
		last_prose = i;
		if (first_prose == end)
			first_prose = i;
	}
	for (size_t i = first; i < end; i++) {
		const struct pd_line *l = &f->lines.v[i];
		bool inside = i > first_prose && i < last_prose;
		if (!f->why[i] && !l->prose)
			f->why[i] = l->notice && !inside && !f->notes[l->home].home ? "notice" : short_line(f, in, l, inside || first_prose == end);
	}
}

/* Text, and what of it stands outside links. */
struct amount {
	double mass, plain;
};

static void add_amount(struct amount *a, const struct pd_line *l)
{
	a->mass += l->mass;
	a->plain += l->mass - l->link_mass;
}

static struct amount kept(const struct pd_topic_finder *f)
{
	struct amount a = { 0 };
	for (size_t i = 0; i < f->lines.n; i++)
		if (!f->why[i])
			add_amount(&a, &f->lines.v[i]);
	return a;
}

/* In boxes that no hint drops. */
static struct amount of_page(const struct pd_topic_finder *f)
{
	struct amount a = { 0 };
	for (size_t i = 0; i < f->lines.n; i++)
		if (!f->notes[f->lines.v[i].box].rule)
			add_amount(&a, &f->lines.v[i]);
	return a;
}

/* Is what is kept a scrap of what the page holds? */
static bool is_scrap(const struct pd_topic_finder *f)
{
	const struct pd_weights *w = f->weights;
	struct amount k = kept(f), all = of_page(f);
	if (k.mass == 0)
		return all.mass >= w->list_least;
	return k.mass < w->scrap && all.mass >= w->list_mass && all.mass >= w->list_gain * k.mass;
}

/* Forgets every rule but the hints. */
static void take_list(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	for (size_t i = 0; i < f->lines.n; i++)
		f->why[i] = f->notes[f->lines.v[i].box].rule;
	pd_live_sum(f, PD_LIVE_TEXT);
	drop_outside(f, &in->boxes[pd_region_of_most(f, in)]);
}

static void take_page(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	for (size_t i = 0; i < f->lines.n; i++)
		f->why[i] = in->boxes[f->lines.v[i].box].tag == PD_TAG_title ? "title" : NULL;
}

/* The step that had to be taken because the rules left too little; NULL: none. */
static const char *mend_scrap(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	if (is_scrap(f)) {
		take_list(f, in);
		return "list";
	}
	if (kept(f).mass > 0)
		return NULL;
	take_page(f, in);
	return "page";
}

static void join_line(const struct pd_blocks *in, const struct pd_line *l, bool links, struct pd_buf *out)
{
	bool begun = false;
	for (size_t i = l->first_run; i < l->end_run; i++) {
		const struct pd_run *r = &in->runs[i];
		if (links && !(r->flags & PD_RUN_LINK))
			continue;
		if (!begun && out->n)
			pd_buf_add_c(out, '\n');
		else if (begun && (links || r->flags & PD_RUN_SPACE))
			pd_buf_add_c(out, ' ');
		begun = true;
		pd_buf_add_span(out, pd_run_text(in, r));
	}
}

/* `links`: only what stands in links. */
static void add_text(const struct pd_topic_finder *f, const struct pd_blocks *in, bool links, struct pd_buf *out)
{
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct pd_line *l = &f->lines.v[i];
		if (!f->why[i] && (!links || l->link_mass))
			join_line(in, l, links, out);
	}
}

/* What a step took in without looking at lines is named by it. */
static const char *why_kept(const struct pd_line *l, const char *step)
{
	bool whole = strcmp(step, "list") == 0 || strcmp(step, "page") == 0;
	return whole ? step : l->prose ? "prose" : "flow";
}

static void explain(const struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out)
{
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct pd_line *l = &f->lines.v[i];
		pd_topic_decide(out, &(struct pd_decision){
			.index = l->box,
			.kept = !f->why[i],
			.label = f->why[i] ? "noise" : "topic",
			.rule = f->why[i] ? f->why[i] : why_kept(l, out->step),
			.value = l->mass ? (double)l->link_mass / l->mass : 0,
			.chars = l->chars,
			.text = pd_run_text(in, &in->runs[l->first_run]),
		});
	}
}

/* The share of the page's link-free text that was kept; less for a short text, and half where it was fallen back. */
static double confidence(const struct pd_topic_finder *f, bool fallback)
{
	double own = kept(f).plain, all = 0, enough = f->weights->short_text;
	for (size_t i = 0; i < f->lines.n; i++)
		all += f->lines.v[i].mass - f->lines.v[i].link_mass;
	double share = all > 0 ? own / all : 0, damp = own < enough ? own / enough : 1;
	return share * damp * (fallback ? .5 : 1);
}

/* Returns the step of the chain that gave the text. */
static const char *choose_lines(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	static const char *const levels[PD_LEVELS] = { RULES, "no-adverts", "no-comments", "tags", "no-hints" };
	enum pd_level level = choose_level(f, in);
	f->kind = pd_kind_find(f, in);
	pd_cards_drop(f, in);
	pd_live_sum(f, PD_LIVE_PROSE);
	const struct pd_box *region = &in->boxes[pd_region_find(f, in)];
	drop_outside(f, region);
	drop_short(f, in, region);
	pd_sections_drop(f, in);
	const char *step = mend_scrap(f, in);
	return step ? step : levels[level];
}

static void drop_repeated(struct pd_topic_finder *f)
{
	for (size_t i = 0; i < f->lines.n; i++)
		if (f->lines.v[i].site)
			f->why[i] = "boilerplate";
}

/* What the site repeats is taken out, then lines are chosen among the rest.  Returns the step; *taken is what
 * was taken out. */
static const char *choose_own(struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_site *site, uint64_t *taken)
{
	pd_lines_cut(&f->lines, in);
	*taken = pd_site_mark(&f->keys, site, in, &f->lines);
	pd_lines_judge(&f->lines, in, f->weights);
	const char *step = choose_lines(f, in);
	drop_repeated(f);
	return step;
}

/* After choose_own: all that is the page's own, as a list is taken; of a short page wherever it stands. */
static const char *take_own(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	if (of_page(f).plain >= OWN_SHORT) {
		take_list(f, in);
	} else {
		for (size_t i = 0; i < f->lines.n; i++) {
			uint32_t box = f->lines.v[i].box;
			f->why[i] = in->boxes[box].tag == PD_TAG_title ? "title" : f->notes[box].rule;
		}
	}
	drop_repeated(f);
	return "list";
}

/* What is the page's own comes before what others of its site hold too.  Only a page that has no text of its own is read as
 * if nothing were known of the site: it must not lose all of its text. */
static const char *choose(struct pd_topic_finder *f, const struct pd_blocks *in, unsigned *flags)
{
	static const struct pd_site unknown = { 0 };
	uint64_t taken, none;
	const char *step = choose_own(f, in, &f->site, &taken);
	if (!taken)
		return step;
	double left = kept(f).mass, own = of_page(f).plain;
	if (own >= OWN_LEAST && own < OWN_SHORT && kept(f).plain < OWN_SHARE * own)
		return take_own(f, in);
	if (left >= OWN_TEXT && left * OWN_PART >= left + (double)taken)
		return step;
	step = choose_own(f, in, &unknown, &none);
	double all = kept(f).mass;
	bool enough = all <= left || (left >= OWN_TEXT && left * OWN_PART >= all);
	if (enough || own >= OWN_LEAST) {
		step = choose_own(f, in, &f->site, &taken);
		return enough ? step : take_own(f, in);
	}
	*flags |= PD_TOPIC_SPARED;
	return step;
}

void pd_topic_main(struct pd_topic_finder *f, const struct pd_blocks *in, struct pd_topic *out)
{
	if (!in->n_runs)
		return;
	out->step = choose(f, in, &out->flags);
	bool fallback = strcmp(out->step, RULES) != 0;
	add_text(f, in, false, &out->text);
	add_text(f, in, true, &out->anchor_text);
	size_t first = out->terms.n;
	pd_topic_terms(f, PD_FEATURE_TEXT, pd_buf_span(&out->text), out);
	pd_topic_feature(out, PD_FEATURE_TEXT, first);
	first = out->terms.n;
	pd_topic_terms(f, PD_FEATURE_ANCHOR, pd_buf_span(&out->anchor_text), out);
	pd_topic_feature(out, PD_FEATURE_ANCHOR, first);
	if (f->options.explain)
		explain(f, in, out);
	out->confidence = confidence(f, fallback);
	out->flags |= fallback ? PD_TOPIC_FALLBACK : 0;
}
