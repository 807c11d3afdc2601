/* SPDX-License-Identifier: MIT */
#include "write/write.h"

#include <inttypes.h>

#include "base/fields.h"
#include "base/tsv.h"
#include "term/terms.h"

void pd_write_fp_header(const struct pd_tables *t, struct pd_buf *out)
{
	pd_buf_printf(out, "# pagededup fp 1 %s | %s\n#", t->must.p, t->recorded.p);
	for (int i = 0; i < PD_FP_COLUMNS; i++)
		pd_buf_printf(out, "%s%s", i ? "\t" : "", pd_fp_columns[i]);
	for (int i = 0; i < t->methods.n; i++)
		pd_buf_printf(out, "\t%s", t->methods.v[i].method->name);
	pd_buf_add_c(out, '\n');
}

void pd_write_fp_columns(const struct pd_tables *t, const char *out[])
{
	memcpy(out, pd_fp_columns, PD_FP_COLUMNS * sizeof *out);
	for (int i = 0; i < t->methods.n; i++)
		out[PD_FP_COLUMNS + i] = t->methods.v[i].method->name;
	out[PD_FP_COLUMNS + t->methods.n] = NULL;
}

static void add_flag(struct pd_buf *out, const char *flag)
{
	if (out->n)
		pd_buf_add_c(out, ',');
	pd_buf_add_z(out, flag);
}

struct pd_span pd_write_page_flags(const struct pd_pipeline *p, struct pd_buf *out)
{
	pd_language(p->blocks.meta.lang, pd_buf_span(&p->topic.text), out);
	bool language = out->n > 0;
	pd_buf_clear(out);
	pd_buf_printf(out, "charset-%s", pd_charset_how_name(p->text.how));
	if (p->text.replaced)
		add_flag(out, "replaced");
	if (p->page.flags & PD_PAGE_CUT)
		add_flag(out, "cut");
	if (p->page.flags & PD_PAGE_TRUNCATED)
		add_flag(out, "truncated");
	if (p->page.flags & PD_PAGE_PLAIN_CODING)
		add_flag(out, "plain-coding");
	if (p->blocks.noscript)
		add_flag(out, "noscript");
	if (p->topic.flags & PD_TOPIC_FALLBACK)
		add_flag(out, "fallback");
	if (p->topic.flags & PD_TOPIC_SPARED)
		add_flag(out, "spared");
	if (p->stub)
		add_flag(out, pd_stub_name(p->stub));
	if (p->tables->fingerprints && !p->signature.present && (!p->stub || p->match_stubs))
		add_flag(out, "short");
	if (!language)
		add_flag(out, "no-language");
	return pd_buf_span(out);
}

static void add_count(struct pd_buf *out, uint64_t n)
{
	pd_buf_printf(out, "%" PRIu64, n);
}

/* As a file of ranks has it. */
static void add_quality(struct pd_pipeline *p, struct pd_buf *out)
{
	double signature, quality;
	pd_buf_clear(&p->scratch);
	pd_tsv_add(&p->scratch, p->page.id);
	if (pd_ranks_find(&p->tables->ranks, pd_buf_span(&p->scratch), &signature, &quality))
		pd_buf_printf(out, "%g", quality);
	else
		pd_buf_add_c(out, '-');
}

static void add_column(struct pd_pipeline *p, enum pd_fp_column c, const char *params, struct pd_buf *out)
{
	struct pd_buf *s = &p->scratch;
	switch (c) {
	case PD_FP_FINGERPRINT:
		if (p->signature.present)
			pd_key_hex(&p->signature.key, p->signature.bits, out);
		else
			pd_buf_add_c(out, '-');
		break;
	case PD_FP_ID: pd_tsv_add(out, p->page.id); break;
	case PD_FP_URL: pd_tsv_add(out, p->page.url); break;
	case PD_FP_FETCH_TIME: pd_tsv_add(out, p->page.fetch_time); break;
	case PD_FP_CONTENT_DIGEST: pd_tsv_add(out, pd_buf_span(&p->content_digest)); break;
	case PD_FP_TEXT_DIGEST: pd_tsv_add(out, pd_buf_span(&p->text_digest)); break;
	case PD_FP_CONTENT_CHARSET: pd_tsv_add(out, pd_span_z(p->text.charset->name)); break;
	case PD_FP_LANGUAGES:
		pd_language(p->blocks.meta.lang, pd_buf_span(&p->topic.text), s);
		pd_tsv_add(out, pd_buf_span(s));
		break;
	case PD_FP_TERMS: add_count(out, p->signature.terms); break;
	case PD_FP_TEXT_BYTES: add_count(out, p->topic.text.n); break;
	case PD_FP_CONFIDENCE: pd_buf_printf(out, "%.2f", p->topic.confidence); break;
	case PD_FP_FLAGS: pd_buf_add_span(out, pd_write_page_flags(p, s)); break;
	case PD_FP_SKETCH: pd_sketch_hex(&p->sketcher.o, &p->sketch, out); break;
	case PD_FP_USER_ID: pd_tsv_add(out, p->page.user_id); break;
	case PD_FP_PARAMS: pd_buf_add_z(out, params); break;
	case PD_FP_SUBJECT: pd_subject_hex(&p->subject, out); break;
	default: add_quality(p, out); break;
	}
}

void pd_write_fp_row(struct pd_pipeline *p, const char *params, struct pd_buf *out)
{
	for (int i = 0; i < PD_FP_COLUMNS; i++) {
		if (i)
			pd_buf_add_c(out, '\t');
		add_column(p, (enum pd_fp_column)i, params, out);
	}
	for (int i = 0; i < p->tables->methods.n; i++) {
		pd_buf_add_c(out, '\t');
		pd_buf_add_span(out, p->by_method[i].present ? pd_buf_span(&p->by_method[i].column) : pd_span("-", 1));
	}
	pd_buf_add_c(out, '\n');
}

void pd_write_link_header(const struct pd_tables *t, struct pd_buf *out)
{
	pd_buf_printf(out, "# pagededup link 1 types=%d adverts=%s | %s\n#", PD_LINK_TYPES_VERSION, pd_adverts_checksum(t->adverts), t->must.p);
	for (int i = 0; i < PD_LINK_COLUMNS; i++)
		pd_buf_printf(out, "%s%s", i ? "\t" : "", pd_link_columns[i]);
	pd_buf_add_c(out, '\n');
}

void pd_write_link_rows(struct pd_pipeline *p, struct pd_buf *out)
{
	for (size_t i = 0; i < p->links.n; i++) {
		const struct pd_page_link *l = &p->links.v[i];
		pd_tsv_add(out, p->page.id);
		pd_buf_add_c(out, '\t');
		pd_tsv_add(out, l->target);
		pd_buf_printf(out, "\t%s\t", pd_link_type_names[l->type]);
		if (l->block == PD_BLOCK_NONE)
			pd_buf_add_c(out, '-');
		else
			add_count(out, l->block);
		pd_buf_printf(out, "\t%s\t", pd_topic_class_names[l->class]);
		pd_tsv_add(out, l->anchor);
		pd_buf_add_c(out, '\t');
		pd_tsv_add(out, pd_link_name(&p->links, l, PD_LINK_SEEN, &p->scratch));
		pd_buf_add_c(out, '\n');
	}
}

void pd_write_text_row(struct pd_pipeline *p, struct pd_json *j, struct pd_buf *out)
{
	const struct pd_meta *m = &p->blocks.meta;
	pd_json_str(j, "id", p->page.id);
	pd_json_str_or_null(j, "url", p->page.url);
	pd_json_str_or_null(j, "title", m->title);
	pd_json_str_or_null(j, "timestamp", m->timestamp);
	pd_json_str(j, "text", pd_buf_span(&p->topic.text));
	pd_json_str_or_null(j, "keywords", m->keywords);
	pd_json_str_or_null(j, "description", m->description);
	pd_json_str_or_null(j, "anchor_text", pd_buf_span(&p->topic.anchor_text));
	pd_json_write(j, out);
	pd_buf_add_c(out, '\n');
}
