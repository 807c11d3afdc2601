/* SPDX-License-Identifier: MIT
 *
 * A page of a manual shows code or definitions, or it has headings, little prose, and a head that says nothing to search
 * engines and networks (no date, no name of a site, no description with an address).  Its short lines, tables and links are text, and so is what stands
 * around its sections; on a page that was published as an article or an offer the same are dates, names of authors and
 * teasers.  Whoever takes such a page for a manual's keeps a little chrome; the other way round different pages would be
 * left with the same few lines.
 */
#include "topic/finder.h"

enum pd_kind pd_kind_find(const struct pd_topic_finder *f, const struct pd_blocks *in)
{
	const struct pd_weights *w = f->weights;
	const struct pd_meta *m = &in->meta;
	double mass = 0, prose = 0, code = 0, lines = 0, terms = 0, headings = 0;
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct pd_line *l = &f->lines.v[i];
		uint16_t tag = in->boxes[l->box].tag;
		if (f->why[i])
			continue;
		lines++;
		mass += l->mass;
		prose += l->prose ? l->mass : 0;
		code += tag == PD_TAG_pre ? l->mass : 0;
		terms += tag == PD_TAG_dt || tag == PD_TAG_dd;
		headings += tag >= PD_TAG_h1 && tag <= PD_TAG_h6;
	}
	bool described = m->timestamp.n || m->site_name.n || (m->description.n && m->canonical.n);
	bool sparse = !described && headings > 0 && prose < w->kind_prose * mass;
	return sparse || code > w->kind_code * mass || terms > w->kind_terms * lines ? PD_KIND_REFERENCE : PD_KIND_ARTICLE;
}
