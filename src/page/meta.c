/* SPDX-License-Identifier: MIT */
#include "page/listeners.h"

struct meta_source {
	enum pd_attr_id attr; /* the attribute that contains the source's name */
	const char *name;
	enum pd_meta_field field;
	uint8_t rank;
};

#define NAME PD_ATTR_NAME
#define PROPERTY PD_ATTR_PROPERTY
#define ITEMPROP PD_ATTR_ITEMPROP

static const struct meta_source sources[] = {
	{ NAME, "keywords", PD_META_KEYWORDS, 1 },
	{ ITEMPROP, "keywords", PD_META_KEYWORDS, 2 },
	{ NAME, "news_keywords", PD_META_KEYWORDS, 3 },
	{ NAME, "description", PD_META_DESCRIPTION, 1 },
	{ ITEMPROP, "description", PD_META_DESCRIPTION, 2 },
	{ PROPERTY, "og:description", PD_META_DESCRIPTION, 3 },
	{ NAME, "og:description", PD_META_DESCRIPTION, 3 },
	{ NAME, "twitter:description", PD_META_DESCRIPTION, 4 },
	{ NAME, "dc.description", PD_META_DESCRIPTION, 4 },
	{ PROPERTY, "og:url", PD_META_CANONICAL, 2 },
	{ PROPERTY, "article:published_time", PD_META_TIMESTAMP, 1 },
	{ NAME, "article:published_time", PD_META_TIMESTAMP, 1 },
	{ PROPERTY, "og:published_time", PD_META_TIMESTAMP, 2 },
	{ ITEMPROP, "datepublished", PD_META_TIMESTAMP, 2 },
	{ NAME, "datepublished", PD_META_TIMESTAMP, 2 },
	{ NAME, "publishdate", PD_META_TIMESTAMP, 3 },
	{ NAME, "publish_date", PD_META_TIMESTAMP, 3 },
	{ NAME, "publish-date", PD_META_TIMESTAMP, 3 },
	{ NAME, "pubdate", PD_META_TIMESTAMP, 3 },
	{ NAME, "publication_date", PD_META_TIMESTAMP, 3 },
	{ NAME, "citation_publication_date", PD_META_TIMESTAMP, 3 },
	{ NAME, "parsely-pub-date", PD_META_TIMESTAMP, 3 },
	{ NAME, "sailthru.date", PD_META_TIMESTAMP, 3 },
	{ NAME, "dc.date.issued", PD_META_TIMESTAMP, 4 },
	{ NAME, "dc.date.created", PD_META_TIMESTAMP, 4 },
	{ NAME, "dcterms.created", PD_META_TIMESTAMP, 4 },
	{ NAME, "dcterms.date", PD_META_TIMESTAMP, 4 },
	{ NAME, "dc.date", PD_META_TIMESTAMP, 4 },
	{ NAME, "date", PD_META_TIMESTAMP, 5 },
	{ ITEMPROP, "datecreated", PD_META_TIMESTAMP, 6 },
	{ PROPERTY, "article:modified_time", PD_META_TIMESTAMP, 7 },
	{ ITEMPROP, "datemodified", PD_META_TIMESTAMP, 7 },
	{ PD_ATTR_HTTP_EQUIV, "content-language", PD_META_LANG, 2 },
	{ NAME, "language", PD_META_LANG, 3 },
	{ NAME, "dc.language", PD_META_LANG, 3 },
	{ PROPERTY, "og:site_name", PD_META_SITE_NAME, 1 },
	{ NAME, "og:site_name", PD_META_SITE_NAME, 1 },
	{ NAME, "application-name", PD_META_SITE_NAME, 2 },
};

#define RANK_TIME 8 /* the first <time datetime>, which may be the date of something other than the page */

static void set_if_better(struct pd_meta_finder *f, enum pd_meta_field field, uint8_t rank, struct pd_span value,
			  struct pd_arena *arena, struct pd_meta *out)
{
	value = pd_span_trim(value);
	if (value.n == 0 || (f->rank[field] && f->rank[field] <= rank))
		return;
	f->rank[field] = rank;
	struct pd_meta *to = out;
	struct pd_span *fields[PD_META_FIELDS] = { &to->keywords,  &to->description, &to->canonical,
						   &to->timestamp, &to->lang,	     &to->site_name };
	*fields[field] = pd_arena_copy(arena, value);
}

/* Return whether a refresh redirects soon: "0; url=/there".  A refresh that only reloads the page has no address, or a
 * long delay. */
static bool redirects_soon(struct pd_span content)
{
	enum { SOON = 30 }; /* seconds */
	uint64_t seconds = 0;
	size_t i = 0;
	content = pd_span_trim(content);
	for (; i < content.n && pd_ascii_digit(content.p[i]) && seconds <= SOON; i++)
		seconds = seconds * 10 + (uint64_t)(content.p[i] - '0');
	struct pd_span rest = pd_span(content.p + i, content.n - i);
	const char *equals = rest.n ? memchr(rest.p, '=', rest.n) : NULL;
	return seconds <= SOON && equals && pd_span_trim(pd_span(equals + 1, (size_t)(rest.p + rest.n - equals - 1))).n > 0;
}

static void on_meta(struct pd_meta_finder *f, const struct pd_attr *attrs, size_t n, struct pd_arena *arena, struct pd_meta *out)
{
	struct pd_span content = pd_attr_value(attrs, n, PD_ATTR_CONTENT);
	if (content.n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (attrs[i].id == PD_ATTR_CONTENT || attrs[i].id == PD_ATTR_OTHER)
			continue;
		struct pd_span name = pd_span_trim(attrs[i].value);
		if (attrs[i].id == PD_ATTR_HTTP_EQUIV && pd_span_ieq(name, "refresh"))
			f->redirects |= redirects_soon(content);
		for (size_t k = 0; k < sizeof(sources) / sizeof(sources[0]); k++)
			if (sources[k].attr == attrs[i].id && pd_span_ieq(name, sources[k].name))
				set_if_better(f, sources[k].field, sources[k].rank, content, arena, out);
	}
}

/* Return whether `word` is one of the words of `list`. */
static bool has_word(struct pd_span list, const char *word)
{
	size_t i = 0;
	while (i < list.n) {
		size_t from = i;
		while (i < list.n && !pd_ascii_space(list.p[i]))
			i++;
		if (pd_span_ieq(pd_span(list.p + from, i - from), word))
			return true;
		i++;
	}
	return false;
}

void pd_meta_open(struct pd_meta_finder *f, enum pd_tag t, const struct pd_attr *attrs, size_t n, struct pd_arena *arena,
		  struct pd_meta *out)
{
	switch (t) {
	case PD_TAG_meta: on_meta(f, attrs, n, arena, out); break;
	case PD_TAG_link:
		if (has_word(pd_attr_value(attrs, n, PD_ATTR_REL), "canonical"))
			set_if_better(f, PD_META_CANONICAL, 1, pd_attr_value(attrs, n, PD_ATTR_HREF), arena, out);
		break;
	case PD_TAG_time: {
		bool published = has_word(pd_attr_value(attrs, n, PD_ATTR_ITEMPROP), "datepublished");
		set_if_better(f, PD_META_TIMESTAMP, published ? 2 : RANK_TIME, pd_attr_value(attrs, n, PD_ATTR_DATETIME), arena,
			      out);
		break;
	}
	case PD_TAG_html:
		set_if_better(f, PD_META_LANG, 1, pd_attr_value(attrs, n, PD_ATTR_LANG), arena, out);
		set_if_better(f, PD_META_LANG, 1, pd_attr_value(attrs, n, PD_ATTR_XML_LANG), arena, out);
		break;
	default: break;
	}
}
