/* SPDX-License-Identifier: MIT */
#include "write/write.h"

#include <inttypes.h>


const char *const pd_store_on_duplicate_names[] = { "skip", "replace", NULL };
const char *const pd_store_same_url_names[] = { "judge", "update", NULL };

void pd_write_answers_header(const struct pd_store *s, const struct pd_store_judge_options *o, struct pd_buf *out)
{
	pd_buf_printf(out, "# pagededup answers 1 %s%sk=%d ", pd_buf_z(&s->m.must), s->m.must.n ? " " : "", o->k);
	if (o->verify.off)
		pd_buf_add_z(out, "similarity=none");
	else
		pd_buf_printf(out, "similarity=%g similarity_same_host=%g k_unknown=%d", o->verify.least,
			      o->verify.least_same_host, o->verify.k_unknown);
	if (s->m.methods.n && (pd_store_n_values(s) || !pd_store_has_prints(s))) {
		struct pd_methods asked = o->asked.n ? o->asked : s->m.methods;
		for (int i = 0; i < asked.n; i++) {
			int at = pd_methods_find(&s->m.methods, pd_span_z(asked.v[i].method->name));
			if (at >= 0)
				pd_method_spec_take(&asked.v[i], &s->m.methods.v[at], PD_METHOD_SIGNS);
		}
		pd_buf_add_z(out, " methods=");
		pd_methods_print(&asked, PD_METHOD_BOTH, out);
		pd_buf_printf(out, " require=%d", o->least < 0 ? asked.n : o->least ? o->least : asked.n / 2 + 1);
	}
	pd_buf_printf(out, " on_duplicate=%s same_url=%s | ask=%s\n#", pd_store_on_duplicate_names[o->on_duplicate],
		      pd_store_same_url_names[o->same_url], o->keep ? "add" : "check");
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
		pd_buf_printf(out, "%" PRIu64 "\t", n);
	else
		pd_buf_add_z(out, "-\t");
}

/* "found by simhash,exact", of the methods that were asked */
static void add_finders(const struct pd_store_answer *a, const struct pd_store_match *m, struct pd_buf *out)
{
	const char *before = "found by ";
	for (int i = 0; i < a->asked->n; i++)
		if (m->found >> i & 1) {
			pd_buf_printf(out, "%s%s", before, a->asked->v[i].method->name);
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
		pd_buf_printf(out, "distance %d", m->distance);
	else
		pd_buf_add_z(out, "another version of its URL");
	if (m->similarity >= 0 && m->distance != PD_STORE_BY_KEY)
		pd_buf_printf(out, " and similarity %.3f", m->similarity);
	if (a->asked && m->found) {
		pd_buf_add_z(out, ", ");
		add_finders(a, m, out);
	}
}

static void add_distance(const struct pd_store_match *m, struct pd_buf *out)
{
	if (m && m->distance >= 0)
		pd_buf_printf(out, "%d\t", m->distance);
	else
		pd_buf_add_z(out, "-\t");
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
		if (m->distance == PD_STORE_NOT_NEAR || !m->text_n)	/* a filter knows no ids */
			continue;
		if (n++)
			pd_buf_add_c(out, ',');
		for (size_t c = 0; c < id.n; c++)
			if (id.p[c] == ',')
				pd_buf_add_z(out, "\\x2c");
			else
				pd_buf_add_c(out, id.p[c]);
		if (m->distance < 0)
			pd_buf_add_z(out, ":-");
		else
			pd_buf_printf(out, ":%d", m->distance);
	}
	if (!n)
		pd_buf_add_c(out, '-');
}

/* The columns up to text_bytes: of a page that is kept (no match), or that gives way to another. */
static void add_answer_page(struct pd_span text, uint64_t cluster, const struct pd_store_match *m, struct pd_span dup_of,
		     struct pd_buf *out)
{
	add_number_or_dash(out, cluster);
	add_field(out, pd_store_text(text, PD_STORE_TEXT_ID));
	add_field(out, pd_store_text(text, PD_STORE_TEXT_URL));
	pd_buf_add_z(out, m ? "1\t" : "0\t");
	add_field(out, dup_of);
	add_field(out, dup_of);
	add_distance(m, out);
	add_field(out, pd_store_text(text, PD_STORE_TEXT_TEXT_BYTES));
	pd_buf_add_z(out, m ? "0\t" : "1\t");
}

static void asked_row(const struct pd_store_answer *a, struct pd_buf *out)
{
	const struct pd_store_match *m = a->status == PD_STORE_DUPLICATE ? &a->matches[0] : NULL;
	bool doubt = a->status == PD_STORE_NEW && a->doubt > PD_LOOK_YES;
	struct pd_span dup_of = m && m->text_n ? pd_store_text(pd_store_match_text(a, m), PD_STORE_TEXT_ID) : pd_span("-", 1);
	add_answer_page(a->text, m ? m->at.number : a->number, m, dup_of, out);
	if (m)
		add_why(a, m, out);
	else
		pd_buf_add_z(out, a->status == PD_STORE_KEPT ? "kept already" : "new");
	pd_buf_printf(out, "\t%s\t", pd_store_status_names[a->status]);
	add_matches(a, out);
	if (doubt) {
		pd_buf_printf(out, "\t%s, similarity %.3f: ", pd_look_names[a->doubt], a->doubted.similarity);
		pd_buf_add_span(out, pd_store_text(pd_store_match_text(a, &a->doubted), PD_STORE_TEXT_ID));
		pd_buf_add_c(out, '\n');
	} else {
		pd_buf_add_z(out, "\t-\n");
	}
}

static void replaced_row(const struct pd_store_answer *a, const struct pd_store_match *m, struct pd_buf *out)
{
	add_answer_page(pd_store_match_text(a, m), a->number, m, pd_store_text(a->text, PD_STORE_TEXT_ID), out);
	add_why(a, m, out);
	pd_buf_printf(out, "\t%s\t-\t-\n", pd_store_status_names[PD_STORE_REPLACED]);
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

void pd_write_store_columns(const struct pd_store *s, const char *columns[PD_WRITE_FP_COLUMNS])
{
	int n = PD_FP_COLUMNS;
	memcpy(columns, pd_fp_columns, PD_FP_COLUMNS * sizeof *columns);
	for (int i = 0; i < s->m.methods.n; i++)
		if (s->m.methods.v[i].method->kind != PD_SIGN_BITS)
			columns[n++] = s->m.methods.v[i].method->name;
	columns[n] = NULL;
}

void pd_write_store_header(const struct pd_store *s, struct pd_buf *out)
{
	const char *columns[PD_WRITE_FP_COLUMNS];
	pd_write_store_columns(s, columns);
	pd_buf_printf(out, "# pagededup fp 1 %s |%s%s", pd_buf_z(&s->m.must), s->m.sketch[0] ? " sketch=" : "", s->m.sketch);
	if (pd_store_n_values(s)) {
		pd_buf_add_z(out, " methods=");
		pd_methods_print(&s->m.methods, PD_METHOD_SIGNS, out);
	}
	if (s->m.tables.n)
		pd_buf_printf(out, " %s", s->m.tables.p);
	for (int i = 0; columns[i]; i++)
		pd_buf_printf(out, "%s%s", i ? "\t" : "\n#", columns[i]);
	pd_buf_add_c(out, '\n');
}

static void add_word(struct pd_buf *out, const char *name, const char *value)
{
	pd_buf_printf(out, "%s\t%s\n", name, *value ? value : "-");
}

static void add_info(const struct pd_store *s, const struct pd_store_size *size, struct pd_buf *out)
{
	pd_buf_printf(out,
		      "version\t%d\npages\t%" PRIu64 "\ngone\t%" PRIu64 "\nin_log\t%zu\nbytes\t%" PRIu64 "\nnext\t%" PRIu64 "\n", s->m.version, size->pages, size->tombstones, s->log.recent.n, size->bytes, s->m.next);
	pd_buf_printf(out, "bits\t%d\nk\t%d\nk_unknown\t%d\n", s->m.bits, s->m.k, s->m.alone);
	add_word(out, "sketch", s->m.sketch);
	struct pd_buf methods = { 0 };
	pd_methods_print(&s->m.methods, PD_METHOD_SIGNS, &methods);
	add_word(out, "methods", pd_buf_z(&methods));
	pd_buf_release(&methods);
	add_word(out, "params", s->m.params);
	add_word(out, "must", pd_buf_z(&s->m.must));
	if (s->m.keys.kind)
		pd_buf_printf(out, "keys\t%s\nkeys_seen\t%" PRIu64 "\nkeys_in_log\t%zu\n", pd_store_keys_names[s->m.keys.kind], size->keys,
			      s->log.recent.n_keys);
	if (s->m.keys.kind == PD_STORE_KEYS_BLOOM)
		pd_buf_printf(out, "filter_bits\t%" PRIu64 "\nfilter_hashes\t%d\nfilter_made_for\t%" PRIu64 "\nfilter_error\t%g\n"
			      "false_answers_computed\t%.6f\nfalse_answers_measured\t%.6f\n", s->m.keys.bits, s->m.keys.hashes, s->m.made_for,
			      (double)s->m.millionths * 1e-6, size->false_computed, size->false_measured);
	for (size_t i = 0; i < s->m.n_segments; i++) {
		const struct pd_store_segment_footer *f = &s->segments[i].f;
		pd_buf_printf(out,
			      "segment\tseg-%" PRIu64 ": %" PRIu64 " pages, %" PRIu64 " bytes, %" PRIu32 " tables of %" PRIu32 " bits\n", f->file, f->rows, s->m.segments[i].bytes, f->tables, f->table_bits);
	}
}

void pd_write_store_info(const struct pd_store *s, const struct pd_store_size *size, struct pd_json *j,
			 struct pd_buf *out)
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
	pd_json_int(j, "k_unknown", s->m.alone);
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
