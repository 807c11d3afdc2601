/* SPDX-License-Identifier: MIT
 *
 * Rows as TSV: pages, pairs, verdicts, answers of a store; finally their headers, by kind.
 */
#include "write/write.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/tsv.h"
#include "term/terms.h"

#define WRITE_FP_COLUMNS (PD_FP_COLUMNS + PD_METHODS_MAX + 1)

#define END " end=total" /* in a header: pd_write_end is called */

/* --- pages --- */

static void add_fp_header(const struct pd_tables *t, bool ends, struct pd_buf *out)
{
	pd_buf_printf(out, "# pagededup fp 1 %s | %s%s\n#", t->must.p, t->recorded.p, ends ? END : "");
	for (int i = 0; i < PD_FP_COLUMNS; i++)
		pd_buf_printf(out, "%s%s", i ? "\t" : "", pd_fp_columns[i]);
	for (int i = 0; i < t->methods.n; i++)
		pd_buf_printf(out, "\t%s", t->methods.v[i].method->name);
	pd_buf_add_c(out, '\n');
}

/* The columns of the rows that these tables make, NULL at the end: room for WRITE_FP_COLUMNS. */
static void find_fp_columns(const struct pd_tables *t, const char *out[])
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
	if (pd_pipeline_is_cut(p))
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
	if (p->tables->fingerprints && !p->signature.present && (!p->stub || p->match_stubs) && !pd_pipeline_is_cut(p))
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

static void add_column(struct pd_pipeline *p, enum pd_fp_column c, struct pd_buf *out)
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
	case PD_FP_PARAMS: pd_buf_add_z(out, p->tables->params); break;
	case PD_FP_SUBJECT: pd_subject_hex(&p->subject, out); break;
	default: add_quality(p, out); break;
	}
}

static void add_fp_row(struct pd_pipeline *p, struct pd_buf *out)
{
	for (int i = 0; i < PD_FP_COLUMNS; i++) {
		if (i)
			pd_buf_add_c(out, '\t');
		add_column(p, (enum pd_fp_column)i, out);
	}
	for (int i = 0; i < p->tables->methods.n; i++) {
		pd_buf_add_c(out, '\t');
		pd_buf_add_span(out, p->by_method[i].present ? pd_buf_span(&p->by_method[i].column) : pd_span("-", 1));
	}
	pd_buf_add_c(out, '\n');
}

static void add_link_header(const struct pd_tables *t, bool ends, struct pd_buf *out)
{
	pd_buf_printf(out, "# pagededup link 1 types=%d adverts=%s | %s%s\n#", PD_LINK_TYPES_VERSION,
		      pd_adverts_checksum(t->adverts), t->must.p, ends ? END : "");
	for (int i = 0; i < PD_LINK_COLUMNS; i++)
		pd_buf_printf(out, "%s%s", i ? "\t" : "", pd_link_columns[i]);
	pd_buf_add_c(out, '\n');
}

static void add_link_rows(struct pd_pipeline *p, struct pd_buf *out)
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

static void add_text_row(struct pd_pipeline *p, struct pd_json *j, struct pd_buf *out)
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

void pd_write_page(struct pd_pipeline *p, enum pd_write_kind kind, struct pd_json *j, struct pd_buf *out)
{
	const char *columns[WRITE_FP_COLUMNS];
	size_t at = out->n;
	switch (kind) {
	case PD_WRITE_TEXT: add_text_row(p, j, out); break;
	case PD_WRITE_LINK: add_link_rows(p, out); break;
	default:
		add_fp_row(p, out);
		if (!j)
			break;
		find_fp_columns(p->tables, columns);
		pd_write_jsonl_row(j, columns, out, at);
	}
}

/* --- pairs --- */

static void add_pairs_header(const struct pd_rows *rows, const struct pd_match_options *o, bool ends, struct pd_buf *out)
{
	pd_buf_add_z(out, "# pagededup pairs 1 ");
	if (rows->must.n)
		pd_buf_printf(out, "%s ", rows->must.p);
	pd_buf_printf(out, "k=%d scope=%s ", o->k, o->scope_name ? o->scope_name : pd_match_scope_names[o->scope]);
	if (o->rules) {
		pd_buf_add_z(out, "rules=");
		pd_rules_print(o->rules, out);
		pd_buf_add_c(out, ' ');
	}
	if (o->owners)
		pd_buf_printf(out, "sites=%016" PRIx64 " ", o->owners);
	pd_buf_printf(out, "links=%s ", o->all_pairs ? "all" : "first");
	pd_buf_printf(out, "candidates=%s ", pd_match_candidates_names[o->candidates]);
	if (o->verify.off)
		pd_buf_add_z(out, "similarity=none");
	else
		pd_buf_printf(out, "similarity=%g similarity_same_host=%g k_unknown=%d", o->verify.least, o->verify.least_same_host,
			      o->verify.k_unknown);
	if (rows->methods.n) {
		pd_buf_add_z(out, " methods=");
		pd_methods_print(&rows->methods, PD_METHOD_BOTH, out);
	}
	pd_buf_printf(out, " |%s\n#", ends ? END : "");
	int n = rows->methods.n ? PD_PAIRS_METHODS_COLUMNS : PD_PAIRS_COLUMNS;
	for (int i = 0; i < n; i++)
		pd_buf_printf(out, "%s%c", pd_pairs_methods_columns[i], i + 1 < n ? '\t' : '\n');
}

#define FARTHEST 36 /* pairs ahead whose rows are located */
#define FAR 24	    /* and, when that is there, their rows' offsets */
#define NEAR 12	    /* and, after that, whose rows are prefetched */

/* A row of the spool: id, url, fetch_time to quality, unchanged, and the content digest. */
struct pair_line {
	struct pd_span id, url, rest, digest;
};

static struct pd_span field_until(const char *p, char c, const char *end)
{
	return pd_span(p, (size_t)((const char *)memchr(p, c, (size_t)(end - p)) - p));
}

static size_t three_fields(struct pd_span s)
{
	size_t n = 0;
	for (int tabs = 0; n < s.n; n++)
		if (s.p[n] == '\t' && ++tabs == 3)
			break;
	return n;
}

static struct pair_line split(const struct pd_rows *rows, uint32_t row)
{
	const char *end = rows->spool + rows->spool_size;
	struct pair_line l;
	l.id = field_until(pd_rows_text(rows, row), '\t', end);
	l.url = field_until(l.id.p + l.id.n + 1, '\t', end);
	struct pd_span line = field_until(l.url.p + l.url.n + 1, '\n', end);
	l.rest = pd_span(line.p, three_fields(line));
	l.digest = pd_span("-", 1);
	if (l.rest.n < line.n) {
		line = pd_span(line.p + l.rest.n + 1, line.n - l.rest.n - 1);
		pd_span_split(&line, '\t', &l.digest);
	}
	return l;
}

static char *put_field(char *to, struct pd_span s, char after)
{
	memcpy(to, s.p, s.n);
	to[s.n] = after;
	return to + s.n + 1;
}

/* "%d" of 0 to 999. */
static char *put_int(char *to, int v)
{
	if (v >= 100)
		*to++ = (char)('0' + v / 100);
	if (v >= 10)
		*to++ = (char)('0' + v / 10 % 10);
	*to++ = (char)('0' + v % 10);
	return to;
}

/* "%.3f" of 0 to 1. printf rounds the exact value, which is only needed near a tie. */
static char *put_similarity(char *to, double s)
{
	double scaled = s * 1000, part = scaled - (int)scaled;
	int v = (int)scaled + (part > .5);
	if (part > .4999 && part < .5001)
		return to + sprintf(to, "%.3f", s);
	*to++ = (char)('0' + v / 1000);
	*to++ = '.';
	*to++ = (char)('0' + v / 100 % 10);
	*to++ = (char)('0' + v / 10 % 10);
	*to++ = (char)('0' + v % 10);
	return to;
}

static char *put_values(char *to, const struct pd_match_pair *pair)
{
	if (pair->distance < 0)
		*to++ = '-';
	else
		to = put_int(to, pair->distance);
	*to++ = '\t';
	if (pair->similarity < 0)
		*to++ = '-';
	else
		to = put_similarity(to, pair->similarity);
	*to++ = '\t';
	return put_field(to, pd_span_z(pair->distance < 0 ? "text_digest" : pair->linked ? "linked" : "simhash"), '\t');
}

static void pair_row(const struct pd_rows *rows, const struct pd_match_pair *pair, struct pd_buf *out)
{
	struct pair_line x = split(rows, pair->a), y = split(rows, pair->b);
	char *from = pd_buf_reserve(out, x.id.n + x.url.n + x.rest.n + y.id.n + y.url.n + y.rest.n + x.digest.n + y.digest.n + 64),
	     *to = from;
	to = put_field(put_field(to, x.id, '\t'), y.id, '\t');
	to = put_values(to, pair);
	to = put_field(put_field(to, x.url, '\t'), y.url, '\t');
	to = put_field(put_field(to, x.rest, '\t'), y.rest, '\t');
	to = put_field(put_field(to, x.digest, '\t'), y.digest, '\n');
	*to = 0;
	out->n += (size_t)(to - from);
}

/* Rows and their offsets are in random places: prefetch both. */
static void expect(const struct pd_rows *rows, const struct pd_match_pair *pairs, size_t n, size_t i)
{
	if (rows->there && i + FARTHEST < n) {
		pd_prefetch(&rows->there[pairs[i + FARTHEST].b / 64]);
		pd_prefetch(&rows->before[pairs[i + FARTHEST].b / 64]);
	}
	if (i + FAR < n) {
		size_t place = pd_rows_place(rows, pairs[i + FAR].b);
		pd_prefetch(&rows->at.low[place]);
		pd_prefetch(&rows->at.high[place]);
	}
	if (i + NEAR < n) {
		pd_prefetch(pd_rows_text(rows, pairs[i + NEAR].a));
		pd_prefetch(pd_rows_text(rows, pairs[i + NEAR].b));
		pd_prefetch(pd_rows_text(rows, pairs[i + NEAR].b) + 64);
	}
}

void pd_write_pair_rows(const struct pd_rows *rows, const struct pd_match_pair *pairs, size_t n, struct pd_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		expect(rows, pairs, n, i);
		pair_row(rows, &pairs[i], out);
	}
}

void pd_write_suspect_line(const struct pd_rows *rows, const struct pd_doubt *doubt, struct pd_json *j, struct pd_buf *out)
{
	const char *columns[PD_PAIRS_COLUMNS + 2] = { PD_SUSPECT_MARK };
	struct pd_match_pair pair = pd_match_doubted(rows, doubt);
	size_t at = out->n;
	pd_buf_printf(out, "%s%s\t", j ? "" : "# " PD_SUSPECT_MARK " ", pd_verification_names[doubt->result]);
	pair_row(rows, &pair, out);
	memcpy(columns + 1, pd_pairs_columns, sizeof pd_pairs_columns);
	if (j)
		pd_write_jsonl_row(j, columns, out, at);
}

static void add_share(struct pd_buf *out, size_t shared, size_t all)
{
	pd_buf_printf(out, "\t%.3f", all ? (double)shared / (double)all : 0);
}

/* The names of the methods that found it; equal texts count as the fingerprint's method for pages without one. */
static void add_methods(const struct pd_rows *rows, const struct pd_match_methods_pair *pair, struct pd_buf *out)
{
	bool first = true;
	for (int i = 0; i < rows->methods.n; i++) {
		const struct pd_method *m = rows->methods.v[i].method;
		if (!(pair->found >> i & 1))
			continue;
		pd_buf_printf(out, "%s%s", first ? "" : ",", m->kind == PD_SIGN_BITS && pair->text ? "text_digest" : m->name);
		first = false;
	}
}

void pd_write_methods_pair_row(const struct pd_rows *rows, const struct pd_match_methods_pair *pair, struct pd_buf *out)
{
	struct pair_line x = split(rows, pair->a), y = split(rows, pair->b);
	pd_buf_add_span(out, x.id);
	pd_buf_add_c(out, '\t');
	pd_buf_add_span(out, y.id);
	pd_buf_add_c(out, '\t');
	if (pair->distance < 0)
		pd_buf_add_c(out, '-');
	else
		pd_buf_printf(out, "%d", pair->distance);
	if (pair->similarity < 0)
		pd_buf_add_z(out, "\t-\t");
	else
		pd_buf_printf(out, "\t%.3f\t", pair->similarity);
	add_methods(rows, pair, out);
	const struct pd_span rest[] = { x.url, y.url, x.rest, y.rest, x.digest, y.digest };
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
		pd_buf_add_c(out, '\t');
		pd_buf_add_span(out, rest[i]);
	}
	if (pair->set < 0) {
		pd_buf_add_z(out, "\t-\t-\t-");
	} else {
		pd_buf_printf(out, "\t%zu", pair->shared);
		add_share(out, pair->shared, pair->size_a);
		add_share(out, pair->shared, pair->size_b);
	}
	pd_buf_printf(out, "\t%d\n", pair->linked);
}

/* --- verdicts --- */

/* Files that shaped the verdicts are named by a hash of their contents. */
static int add_content_digest(const char *key, const char *path, struct pd_buf *out, struct pd_err *e)
{
	struct pd_hasher *h = pd_hasher_new();
	uint64_t w[2];
	char piece[1 << 14];
	size_t n;
	FILE *f = pd_input_fopen(path, e);
	int status = f ? PD_OK : e->status;
	while (f && (n = fread(piece, 1, sizeof piece, f)) > 0)
		pd_hasher_add(h, piece, n);
	if (f && ferror(f))
		status = pd_fail_errno(e, "cannot read %s", path);
	pd_hasher_end(h, w);
	pd_hasher_free(h);
	if (f)
		fclose(f);
	pd_buf_printf(out, " %s=%08" PRIx32, key, (uint32_t)(w[0] >> 32));
	return status;
}

static int add_verdicts_header(const struct pd_group *g, bool ends, struct pd_buf *out, struct pd_err *e)
{
	const struct pd_group_options *o = g->o;
	int status = PD_OK;
	pd_buf_printf(out, "# pagededup verdicts 1 %s%slinkage=%s keep=", pd_buf_z(&g->pages.must), g->pages.must.n ? " " : "",
		      pd_linkage_names[o->linkage]);
	pd_keep_print(&o->keep, ",", out);
	if (o->keep.rank_file)
		status = add_content_digest("rank", o->keep.rank_file, out, e);
	if (!status && o->keep.prefer_hosts)
		status = add_content_digest("prefer_host", o->keep.prefer_hosts, out, e);
	pd_buf_printf(out, " action=%s", pd_action_names[o->action]);
	if (o->action == PD_ACTION_DEMOTE)
		pd_buf_printf(out, " weight=%g", o->weight);
	pd_buf_printf(out, " max_loss=%g", o->max_loss);
	if (o->in.exempt > 0)
		pd_buf_printf(out, " exempt=%g", o->in.exempt);
	if (o->in.scope)
		pd_buf_printf(out, " cluster_scope=%s", pd_pages_scopes[o->in.scope]);
	if (o->in.sites)
		pd_buf_printf(out, " sites=%016" PRIx64, pd_owners_checksum(g->pages.owners));
	if (o->required || g->pages.n_methods > 1) {
		pd_buf_add_z(out, " require=");
		pd_group_required(g, out);
	}
	pd_buf_printf(out, " |%s\n#", ends ? END : "");
	for (int i = 0; i < PD_VERDICTS_COLUMNS; i++)
		pd_buf_printf(out, "%s%c", pd_verdicts_columns[i], i + 1 < PD_VERDICTS_COLUMNS ? '\t' : '\n');
	return status;
}

static void add_span_or_dash(struct pd_buf *out, struct pd_span s)
{
	pd_buf_add_span(out, s);
	pd_buf_add_c(out, '\t');
}

static void add_digits(struct pd_buf *out, uint64_t v)
{
	char digits[24], *p = digits + sizeof digits;
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	pd_buf_add(out, p, (size_t)(digits + sizeof digits - p));
}

/* "distance 5 and similarity 0.83" */
static void add_nearness(const struct pd_pages *pages, const struct pd_edge *edge, struct pd_buf *out)
{
	struct pd_span similarity = pd_pages_similarity(pages, edge);
	bool nothing_new = edge->distance <= 0 && pd_span_is(similarity, "1.000"), none = edge->distance == PD_NO_DISTANCE;
	const struct pd_edge_by *by = pd_pages_by(pages, edge);
	pd_buf_add_z(out, none				   ? ""
			  : edge->distance == PD_SAME_TEXT ? "same text"
			  : edge->distance == 0		   ? "same fingerprint"
							   : "distance ");
	if (edge->distance > 0 && !none)
		add_digits(out, (uint64_t)edge->distance);
	if (!pd_span_is(similarity, "-") && !nothing_new) {
		pd_buf_add_z(out, none ? "similarity " : " and similarity ");
		pd_buf_add_span(out, similarity);
	}
	if (!by)
		return;
	pd_buf_add_z(out, none && pd_span_is(similarity, "-") ? "found by " : ", found by ");
	pd_buf_add_span(out, pages->methods.v[by->methods]);
}

/* The common part of two pages: ", 12 in common: 85.0% of it in the page kept, 60.0% of that one in it" */
static void add_parts(const struct pd_pages *pages, const struct pd_group_member *m, struct pd_buf *out)
{
	const struct pd_edge_by *by = pd_pages_by(pages, m->edge);
	bool a = m->edge->a == m->page;
	if (!by || by->share_a == PD_NO_SHARE || by->share_b == PD_NO_SHARE || (!a && m->edge->b != m->page))
		return;
	pd_buf_printf(out, ", %" PRIu32 " in common: %.1f%% of it in %s, %.1f%% of that one in it", by->shared,
		      (a ? by->share_a : by->share_b) / 10., m->via == m->keep ? "the page kept" : "the other",
		      (a ? by->share_b : by->share_a) / 10.);
}

/* The basis of the verdict in addition to the pair: the texts, or only their sketches. */
static void add_evidence(const struct pd_pages *pages, const struct pd_edge *edge, const struct pd_loss *loss, struct pd_buf *out)
{
	bool exact = loss && loss->known == PD_LOSS_EXACT;
	if (edge->distance == PD_SAME_TEXT && (!exact || !loss->share))
		return;
	if (!exact && edge->distance != PD_NO_DISTANCE && !pd_span_is(pd_pages_similarity(pages, edge), "-"))
		pd_buf_add_z(out, ", by sketches only");
	if (!exact)
		return;
	if (loss->part)
		pd_buf_add_z(out, ", a part of the page kept");
	if (loss->share > 0)
		pd_buf_printf(out, ", which has %.1f%% of its text", 100 - 100 * loss->share);
	else
		pd_buf_add_z(out, ", all of its text in the page kept");
}

/* The edge need not touch the page itself: a page shares the neighbours of a page with the same fingerprint. */
static void add_reason(struct pd_pages *pages, const struct pd_group_member *m, struct pd_buf *out)
{
	const struct pd_edge *edge = m->edge;
	bool own = edge->a == m->page || edge->b == m->page, direct = m->via == m->keep;
	if (!own && !direct) {
		pd_buf_add_z(out, "same as ");
		pd_buf_add_span(out, pd_pages_view(pages, m->via).id);
		pd_buf_add_z(out, ", which has ");
	}
	add_nearness(pages, edge, out);
	if (own && !direct) {
		pd_buf_add_z(out, " to ");
		pd_buf_add_span(out, pd_pages_view(pages, m->via).id);
		pd_buf_add_z(out, ", which leads to the page kept");
	}
	add_parts(pages, m, out);
	add_evidence(pages, edge, m->loss, out);
}

/* dup_of, via, distance, similarity */
static void add_relation(struct pd_pages *pages, const struct pd_group_member *m, struct pd_buf *out)
{
	const struct pd_edge *edge = m->edge;
	struct pd_span keep = pd_pages_view(pages, m->keep).id;
	add_span_or_dash(out, keep);
	add_span_or_dash(out, m->via == m->keep ? keep : pd_pages_view(pages, m->via).id);
	if (edge->distance == PD_SAME_TEXT || edge->distance == PD_NO_DISTANCE)
		pd_buf_add_c(out, '-');
	else
		add_digits(out, (uint64_t)edge->distance);
	pd_buf_add_c(out, '\t');
	add_span_or_dash(out, pd_pages_similarity(pages, edge));
}

static void add_kept(const struct pd_group_options *o, uint32_t size, struct pd_buf *out)
{
	pd_buf_add_z(out, "1\tkept: ");
	if (o->in.may_go)
		pd_buf_add_z(out, "old page,");
	else if (o->keep.prefer_hosts)
		pd_buf_add_z(out, "preferred host, ");
	if (!o->in.may_go)
		pd_keep_print(&o->keep, ", ", out);
	pd_buf_add_z(out, " of ");
	add_digits(out, size);
	pd_buf_add_z(out, " pages");
}

static void add_weight(const struct pd_group_options *o, struct pd_buf *out)
{
	if (o->action == PD_ACTION_DEMOTE)
		pd_buf_printf(out, "%g\t", o->weight);
	else
		pd_buf_add_z(out, "0\t");
}

/* The explanation of a page that is kept although it may be a duplicate. */
static const char *doubt_in_words(struct pd_span why)
{
	return pd_span_is(why, "few-terms")	   ? "kept, too short to be sure"
	       : pd_span_is(why, "unsure")	   ? "kept, its main text is not sure"
	       : pd_span_is(why, "other-subject")  ? "kept, it has another subject"
	       : pd_span_is(why, "other-language") ? "kept, it is in another language"
						   : "kept, in doubt";
}

void pd_write_verdict_row(struct pd_group *g, const struct pd_group_member *m, struct pd_buf *out)
{
	struct pd_page_view v = pd_pages_view(&g->pages, m->page);
	bool kept = m->keep == m->page, suspect = m->suspect.n;
	if (suspect)
		pd_buf_add_c(out, '-');
	else
		add_digits(out, m->cluster);
	pd_buf_add_c(out, '\t');
	add_span_or_dash(out, v.id);
	add_span_or_dash(out, v.url);
	pd_buf_add_z(out, kept ? "0\t-\t-\t-\t-\t" : suspect ? "0\t" : "1\t");
	if (!kept)
		add_relation(&g->pages, m, out);
	add_span_or_dash(out, v.text_bytes);
	if (kept) {
		add_kept(g->o, m->size, out);
	} else if (suspect) {
		pd_buf_printf(out, "1\t%s: ", doubt_in_words(m->suspect));
		add_reason(&g->pages, m, out);
	} else {
		add_weight(g->o, out);
		add_reason(&g->pages, m, out);
	}
	pd_buf_add_c(out, '\t');
	if (kept)
		add_digits(out, m->size);
	else
		pd_buf_add_c(out, '-');
	pd_buf_add_c(out, '\t');
	if (m->loss && m->loss->known == PD_LOSS_EXACT)
		pd_buf_printf(out, "%.3f\t", (double)m->loss->share);
	else
		pd_buf_add_z(out, "-\t");
	add_span_or_dash(out, suspect ? m->suspect : pd_span("-", 1));
	pd_buf_add_span(out, v.content_digest);
	pd_buf_add_c(out, '\n');
}

/* --- answers of a store --- */

static void add_answers_header(const struct pd_store *s, const struct pd_store_judge_options *o, bool ends, struct pd_buf *out)
{
	pd_buf_printf(out, "# pagededup answers 1 %s%sk=%d ", pd_buf_z(&s->m.must), s->m.must.n ? " " : "", o->k);
	if (o->verify.off)
		pd_buf_add_z(out, "similarity=none");
	else
		pd_buf_printf(out, "similarity=%g similarity_same_host=%g k_unknown=%d", o->verify.least, o->verify.least_same_host,
			      o->verify.k_unknown);
	if (s->m.methods.n && (pd_store_n_values(s) || !pd_store_has_prints(s))) {
		struct pd_methods requested = o->requested.n ? o->requested : s->m.methods;
		for (int i = 0; i < requested.n; i++) {
			int at = pd_methods_find(&s->m.methods, pd_span_z(requested.v[i].method->name));
			if (at >= 0)
				pd_method_spec_take(&requested.v[i], &s->m.methods.v[at], PD_METHOD_SIGNS);
		}
		pd_buf_add_z(out, " methods=");
		pd_methods_print(&requested, PD_METHOD_BOTH, out);
		pd_buf_printf(out, " require=%d", o->least < 0 ? requested.n : o->least ? o->least : requested.n / 2 + 1);
	}
	pd_buf_printf(out, " on_duplicate=%s same_url=%s | ask=%s%s\n#", pd_store_on_duplicate_names[o->on_duplicate],
		      pd_store_same_url_names[o->same_url], o->keep ? "add" : "check", ends ? END : "");
	for (int i = 0; i < PD_ANSWERS_COLUMNS; i++)
		pd_buf_printf(out, "%s%c", pd_answers_columns[i], i + 1 < PD_ANSWERS_COLUMNS ? '\t' : '\n');
}

static void add_field(struct pd_buf *out, struct pd_span s)
{
	pd_buf_add_span(out, s);
	pd_buf_add_c(out, '\t');
}

static void add_number_or_dash(struct pd_buf *out, uint64_t n)
{
	if (n)
		add_digits(out, n);
	else
		pd_buf_add_c(out, '-');
	pd_buf_add_c(out, '\t');
}

/* "found by simhash,exact", of the requested methods */
static void add_finders(const struct pd_store_answer *a, const struct pd_store_match *m, struct pd_buf *out)
{
	const char *before = "found by ";
	for (int i = 0; i < a->requested->n; i++)
		if (m->found >> i & 1) {
			pd_buf_printf(out, "%s%s", before, a->requested->v[i].method->name);
			before = ",";
		}
}

static void add_why(const struct pd_store_answer *a, const struct pd_store_match *m, struct pd_buf *out)
{
	if (m->distance == PD_STORE_BY_KEY)
		pd_buf_add_z(out, "the same key");
	else if (m->distance == -1)
		pd_buf_add_z(out, "same text");
	else if (m->distance == 0)
		pd_buf_add_z(out, "same fingerprint");
	else if (m->distance > 0)
		pd_buf_add_z(out, "distance "), add_digits(out, (uint64_t)m->distance);
	else
		pd_buf_add_z(out, "another version of its URL");
	if (m->similarity >= 0 && m->distance != PD_STORE_BY_KEY)
		pd_buf_printf(out, " and similarity %.3f", m->similarity);
	if (a->requested && m->found) {
		pd_buf_add_z(out, ", ");
		add_finders(a, m, out);
	}
}

static void add_distance(const struct pd_store_match *m, struct pd_buf *out)
{
	if (m && m->distance >= 0)
		add_digits(out, (uint64_t)m->distance);
	else
		pd_buf_add_c(out, '-');
	pd_buf_add_c(out, '\t');
	if (m && m->similarity >= 0)
		pd_buf_printf(out, "%.3f\t", m->similarity);
	else
		pd_buf_add_z(out, "-\t");
}

/* A comma parts two matches: one in an id is escaped. */
static void add_matches(const struct pd_store_answer *a, struct pd_buf *out)
{
	size_t n = 0;
	for (size_t i = 0; i < a->n_matches; i++) {
		const struct pd_store_match *m = &a->matches[i];
		struct pd_span id = pd_store_text(pd_store_match_text(a, m), PD_STORE_TEXT_ID);
		if (m->distance == PD_STORE_NOT_NEAR || !m->text_n) /* a filter does not know ids */
			continue;
		if (n++)
			pd_buf_add_c(out, ',');
		for (size_t c = 0; c < id.n; c++)
			if (id.p[c] == ',')
				pd_buf_add_z(out, "\\x2c");
			else
				pd_buf_add_c(out, id.p[c]);
		pd_buf_add_c(out, ':');
		if (m->distance < 0)
			pd_buf_add_c(out, '-');
		else
			add_digits(out, (uint64_t)m->distance);
	}
	if (!n)
		pd_buf_add_c(out, '-');
}

/* The columns up to text_bytes: of a stored page (no match), or of one that is replaced. */
static void add_answer_page(struct pd_span text, uint64_t cluster, const struct pd_store_match *m, struct pd_span dup_of,
			    struct pd_buf *out)
{
	struct pd_span f[PD_STORE_TEXT_TEXT_BYTES + 1];
	pd_store_texts(text, f, PD_STORE_TEXT_TEXT_BYTES + 1);
	add_number_or_dash(out, cluster);
	add_field(out, f[PD_STORE_TEXT_ID]);
	add_field(out, f[PD_STORE_TEXT_URL]);
	pd_buf_add_z(out, m ? "1\t" : "0\t");
	add_field(out, dup_of);
	add_field(out, dup_of);
	add_distance(m, out);
	add_field(out, f[PD_STORE_TEXT_TEXT_BYTES]);
	pd_buf_add_z(out, m ? "0\t" : "1\t");
}

static void asked_row(const struct pd_store_answer *a, struct pd_buf *out)
{
	const struct pd_store_match *m = a->status == PD_STORE_DUPLICATE ? &a->matches[0] : NULL;
	bool doubt = a->status == PD_STORE_NEW && a->doubt > PD_VERIFIED_YES;
	struct pd_span dup_of = m && m->text_n ? pd_store_text(pd_store_match_text(a, m), PD_STORE_TEXT_ID) : pd_span("-", 1);
	add_answer_page(a->text, m ? m->at.number : a->number, m, dup_of, out);
	if (m)
		add_why(a, m, out);
	else
		pd_buf_add_z(out, a->status == PD_STORE_KEPT ? "kept already" : "new");
	pd_buf_add_c(out, '\t');
	add_field(out, pd_span_z(pd_store_status_names[a->status]));
	add_matches(a, out);
	if (doubt) {
		pd_buf_printf(out, "\t%s, similarity %.3f: ", pd_verification_names[a->doubt], a->doubted.similarity);
		add_field(out, pd_store_text(pd_store_match_text(a, &a->doubted), PD_STORE_TEXT_ID));
	} else {
		pd_buf_add_z(out, "\t-\t");
	}
	pd_buf_add_span(out, pd_store_text(a->text, PD_STORE_TEXT_CONTENT_DIGEST));
	pd_buf_add_c(out, '\n');
}

static void replaced_row(const struct pd_store_answer *a, const struct pd_store_match *m, struct pd_buf *out)
{
	add_answer_page(pd_store_match_text(a, m), a->number, m, pd_store_text(a->text, PD_STORE_TEXT_ID), out);
	add_why(a, m, out);
	pd_buf_printf(out, "\t%s\t-\t-\t", pd_store_status_names[PD_STORE_REPLACED]);
	pd_buf_add_span(out, pd_store_text(pd_store_match_text(a, m), PD_STORE_TEXT_CONTENT_DIGEST));
	pd_buf_add_c(out, '\n');
}

void pd_write_answers(const struct pd_store_answer *a, struct pd_json *j, struct pd_buf *out)
{
	size_t at = out->n;
	asked_row(a, out);
	if (j)
		pd_write_jsonl_row(j, pd_answers_columns, out, at);
	for (size_t i = 0; i < a->n_matches; i++) {
		if (!a->matches[i].replaced)
			continue;
		at = out->n;
		replaced_row(a, &a->matches[i], out);
		if (j)
			pd_write_jsonl_row(j, pd_answers_columns, out, at);
	}
}

static void find_store_columns(const struct pd_store *s, const char *columns[WRITE_FP_COLUMNS])
{
	int n = PD_FP_COLUMNS;
	memcpy(columns, pd_fp_columns, PD_FP_COLUMNS * sizeof *columns);
	for (int i = 0; i < s->m.methods.n; i++)
		if (s->m.methods.v[i].method->kind != PD_SIGN_BITS)
			columns[n++] = s->m.methods.v[i].method->name;
	columns[n] = NULL;
}

static void add_store_header(const struct pd_store *s, bool ends, struct pd_buf *out)
{
	const char *columns[WRITE_FP_COLUMNS];
	find_store_columns(s, columns);
	pd_buf_printf(out, "# pagededup fp 1 %s |%s%s", pd_buf_z(&s->m.must), s->m.sketch[0] ? " sketch=" : "", s->m.sketch);
	if (pd_store_n_values(s)) {
		pd_buf_add_z(out, " methods=");
		pd_methods_print(&s->m.methods, PD_METHOD_SIGNS, out);
	}
	if (s->m.tables.n)
		pd_buf_printf(out, " %s", s->m.tables.p);
	pd_buf_add_z(out, ends ? END : "");
	for (int i = 0; columns[i]; i++)
		pd_buf_printf(out, "%s%s", i ? "\t" : "\n#", columns[i]);
	pd_buf_add_c(out, '\n');
}

void pd_write_store_page(const struct pd_store *s, const struct pd_store_page *page, struct pd_json *j, struct pd_buf *out)
{
	const char *columns[WRITE_FP_COLUMNS];
	size_t at = out->n;
	pd_store_page_row(page, s->m.bits, &s->sketch, s->m.params, pd_store_n_values(s), out);
	if (!j)
		return;
	find_store_columns(s, columns);
	pd_write_jsonl_row(j, columns, out, at);
}

static void add_word(struct pd_buf *out, const char *name, const char *value)
{
	pd_buf_printf(out, "%s\t%s\n", name, *value ? value : "-");
}

static void add_info(const struct pd_store *s, const struct pd_store_size *size, struct pd_buf *out)
{
	pd_buf_printf(out,
		      "version\t%d\npages\t%" PRIu64 "\ngone\t%" PRIu64 "\nin_log\t%zu\nbytes\t%" PRIu64 "\nnext\t%" PRIu64 "\n",
		      s->m.version, size->pages, size->tombstones, s->log.recent.n, size->bytes, s->m.next);
	pd_buf_printf(out, "bits\t%d\nk\t%d\nk_unknown\t%d\n", s->m.bits, s->m.k, s->m.k_unknown);
	add_word(out, "sketch", s->m.sketch);
	struct pd_buf methods = { 0 };
	pd_methods_print(&s->m.methods, PD_METHOD_SIGNS, &methods);
	add_word(out, "methods", pd_buf_z(&methods));
	pd_buf_release(&methods);
	add_word(out, "params", s->m.params);
	add_word(out, "must", pd_buf_z(&s->m.must));
	if (s->m.keys.kind)
		pd_buf_printf(out, "keys\t%s\nkeys_seen\t%" PRIu64 "\nkeys_in_log\t%zu\n", pd_store_keys_names[s->m.keys.kind],
			      size->keys, s->log.recent.n_keys);
	if (s->m.keys.kind == PD_STORE_KEYS_BLOOM)
		pd_buf_printf(out,
			      "filter_bits\t%" PRIu64 "\nfilter_hashes\t%d\nfilter_made_for\t%" PRIu64 "\nfilter_error\t%g\n"
			      "false_answers_computed\t%.6f\nfalse_answers_measured\t%.6f\n",
			      s->m.keys.bits, s->m.keys.hashes, s->m.made_for, (double)s->m.millionths * 1e-6, size->false_computed,
			      size->false_measured);
	for (size_t i = 0; i < s->m.n_segments; i++) {
		const struct pd_store_segment_footer *f = &s->segments[i].f;
		pd_buf_printf(out,
			      "segment\tseg-%" PRIu64 ": %" PRIu64 " pages, %" PRIu64 " bytes, %" PRIu32 " tables of %" PRIu32
			      " bits\n",
			      f->file, f->rows, s->m.segments[i].bytes, f->tables, f->table_bits);
	}
}

void pd_write_store_info(const struct pd_store *s, const struct pd_store_size *size, struct pd_json *j, struct pd_buf *out)
{
	if (!j) {
		add_info(s, size, out);
		return;
	}
	pd_json_int(j, "version", s->m.version);
	pd_json_int(j, "pages", (int64_t)size->pages);
	pd_json_int(j, "gone", (int64_t)size->tombstones);
	pd_json_int(j, "in_log", (int64_t)s->log.recent.n);
	pd_json_int(j, "bytes", (int64_t)size->bytes);
	pd_json_int(j, "next", (int64_t)s->m.next);
	pd_json_int(j, "bits", s->m.bits);
	pd_json_int(j, "k", s->m.k);
	pd_json_int(j, "k_unknown", s->m.k_unknown);
	pd_json_str_or_null(j, "sketch", pd_span_z(s->m.sketch));
	struct pd_buf methods = { 0 };
	pd_methods_print(&s->m.methods, PD_METHOD_SIGNS, &methods);
	pd_json_str_or_null(j, "methods", pd_buf_span(&methods));
	pd_buf_release(&methods);
	pd_json_str_or_null(j, "params", pd_span_z(s->m.params));
	pd_json_str_or_null(j, "must", pd_buf_span(&s->m.must));
	pd_json_int(j, "segments", (int64_t)s->m.n_segments);
	if (s->m.keys.kind) {
		pd_json_str(j, "keys", pd_span_z(pd_store_keys_names[s->m.keys.kind]));
		pd_json_int(j, "keys_seen", (int64_t)size->keys);
		pd_json_int(j, "keys_in_log", (int64_t)s->log.recent.n_keys);
	}
	if (s->m.keys.kind == PD_STORE_KEYS_BLOOM) {
		pd_json_int(j, "filter_bits", (int64_t)s->m.keys.bits);
		pd_json_int(j, "filter_hashes", s->m.keys.hashes);
		pd_json_real(j, "false_answers_computed", size->false_computed);
		pd_json_real(j, "false_answers_measured", size->false_measured);
	}
	pd_json_write(j, out);
	pd_buf_add_c(out, '\n');
}

/* --- headers --- */

int pd_write_header(const struct pd_write_header *h, struct pd_buf *out, struct pd_err *e)
{
	switch (h->kind) {
	case PD_WRITE_FP: add_fp_header(h->tables, h->ends, out); break;
	case PD_WRITE_LINK: add_link_header(h->tables, h->ends, out); break;
	case PD_WRITE_TEXT: break;
	case PD_WRITE_PAIRS: add_pairs_header(h->rows, h->match, h->ends, out); break;
	case PD_WRITE_VERDICTS: return add_verdicts_header(h->group, h->ends, out, e);
	case PD_WRITE_ANSWERS: add_answers_header(h->store, h->judge, h->ends, out); break;
	case PD_WRITE_STORE: add_store_header(h->store, h->ends, out); break;
	}
	return PD_OK;
}

void pd_write_end(struct pd_span totals, bool cut, uint64_t rows, struct pd_buf *out)
{
	struct pd_span line;
	size_t before = out->n;
	if (cut)
		return;
	while (totals.n && pd_span_split(&totals, '\n', &line))
		if (line.n)
			pd_buf_printf(out, "# total %.*s\n", (int)line.n, line.p);
	if (out->n == before)
		pd_buf_printf(out, "# total rows=%" PRIu64 "\n", rows);
}
