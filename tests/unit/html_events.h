/* SPDX-License-Identifier: MIT
 *
 * The events of a page (page/tree.h) as text, twice: as they come, and where libxml2 gets all elements of it, the balanced ones too.
 * Both must be the same.
 */
#ifndef HTML_EVENTS_H
#define HTML_EVENTS_H

#include "page/tree.h"

struct events {
	struct pd_saxer *saxer;
	struct pd_buf log;
	bool text;    /* the last was one: two in a row are one */
	size_t begun; /* times that the page was sent */
};

static void events_begin(void *self)
{
	struct events *v = self;
	pd_buf_clear(&v->log);
	v->text = false;
	v->begun++;
}

static void events_open(void *self, enum pd_tag tag, const struct pd_attr *attrs, size_t n)
{
	struct events *v = self;
	v->text = false;
	pd_buf_printf(&v->log, "\n<%s", pd_tag_name(tag));
	for (size_t i = 0; i < n; i++) {
		pd_buf_printf(&v->log, " %d ", (int)attrs[i].id);
		pd_buf_add_span(&v->log, attrs[i].name);
		pd_buf_add_c(&v->log, '=');
		pd_buf_add_span(&v->log, attrs[i].value);
	}
}

static void events_close(void *self, enum pd_tag tag)
{
	struct events *v = self;
	v->text = false;
	pd_buf_printf(&v->log, "\n>%s", pd_tag_name(tag));
}

static void events_text(void *self, struct pd_span s)
{
	struct events *v = self;
	if (!v->text)
		pd_buf_add_z(&v->log, "\n:");
	v->text = true;
	pd_buf_add_span(&v->log, s);
}

static void events_frame(void *self, struct pd_span src)
{
	struct events *v = self;
	v->text = false;
	pd_buf_add_z(&v->log, "\n!");
	pd_buf_add_span(&v->log, src);
}

static struct events *events_new(enum pd_saxer_want want)
{
	static const struct pd_html_sink sink = { events_begin, events_open, events_close, events_text, events_frame };
	struct events *v = pd_zalloc(sizeof *v);
	v->saxer = pd_saxer_new(&sink, v, want);
	return v;
}

static inline void events_free(struct events *v)
{
	pd_saxer_free(v->saxer);
	pd_buf_release(&v->log);
	free(v);
}

/* The position of the first difference, or SIZE_MAX. */
static size_t events_differ(struct events *balanced, struct events *entire, struct pd_span page, bool unfold)
{
	size_t a = pd_saxer_run(balanced->saxer, page, unfold), b = pd_saxer_run(entire->saxer, page, unfold), i = 0;
	if (a != b)
		return 0;
	while (i < balanced->log.n && i < entire->log.n && balanced->log.p[i] == entire->log.p[i])
		i++;
	return i == balanced->log.n && i == entire->log.n ? SIZE_MAX : i;
}

/* Make a page of tags in an order that the bytes choose, two bytes per piece; most end tags close the open element. */
static void tag_soup(struct pd_span bytes, struct pd_buf *out)
{
	const char *open[256];
	size_t n = 0;
	pd_buf_clear(out);
	for (size_t i = 0; i + 1 < bytes.n; i += 2) {
		uint8_t what = (uint8_t)bytes.p[i], which = (uint8_t)bytes.p[i + 1];
		const char *name = pd_tag_name((enum pd_tag)(which % PD_TAG_COUNT));
		if (what < 90) {
			pd_buf_printf(out, "<%s%s>", name, what % 8 == 0 ? " class=c href=d src=e" : what % 32 == 1 ? "/" : "");
			open[n % 256] = name;
			n += what % 32 != 1 && !pd_tag_void((enum pd_tag)(which % PD_TAG_COUNT));
		} else if (what < 170 && n) {
			pd_buf_printf(out, "</%s>", open[--n % 256]);
		} else if (what < 180) {
			pd_buf_printf(out, "</%s>", name);
		} else if (what < 240) {
			pd_buf_printf(out, "%c%s", 'a' + which % 26, which & 1 ? " " : "");
		} else {
			pd_buf_add_z(out, which & 1 ? " \n" : "<!-- -->");
		}
	}
}

#endif
