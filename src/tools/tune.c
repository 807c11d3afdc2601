/* SPDX-License-Identifier: MIT */
#include "tools/tune.h"

#include <math.h>
#include <stdlib.h>

#include "row/estimate.h"
#include "row/table.h"
#include "row/write.h"
#include "base/sort.h"
#include "tools/score.h"

/* --- the decision --- */

const double pd_tune_limits[PD_TUNE_SETTINGS] = { .01, .03, .06, .1, 1, 1 };

/* The prior of the share of wrong removals: most of it near 0, so that few labels suffice if none is wrong. */
static const double prior_wrong = .1, prior_right = 20;
/* The parts of the error for the limit of the run, and for suspects after it; for the other limits; for strata. */
static const double part_of_run = .6, part_of_limits = .25, part_of_strata = .15;

static double error_of(int setting, double confidence)
{
	return (1 - confidence) * (setting >= PD_TUNE_RUN ? part_of_run : part_of_limits);
}

static double log_gamma(double x)
{
	int sign;
	return lgamma_r(x, &sign);
}

static double log_beta(double a, double b)
{
	return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}

static double log_choose(double n, double k)
{
	return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
}

/* Return whether the labels reject that `all_wrong` of `all` are wrong, and with it any larger number: the likelihood of this number
 * (hypergeometric) over the mean likelihood under the prior (beta-binomial) is at most `error`.  If the number is true, the
 * probability that this ever happens, after any label, is at most `error`. */
static bool is_rejected(uint64_t all_wrong, uint64_t all, uint64_t wrong, uint64_t labelled, double error)
{
	double k = (double)all_wrong, m = (double)all, w = (double)wrong, n = (double)labelled;
	if (all_wrong > all)
		return true;
	if (w * m >= k * n || all_wrong < wrong)
		return false;
	if (all - all_wrong < labelled - wrong) /* impossible: there are more right labels */
		return true;
	double likelihood = log_choose(k, w) + log_choose(m - k, n - w) - log_choose(m, n);
	double mean = log_choose(n, w) + log_beta(prior_wrong + w, prior_right + n - w) - log_beta(prior_wrong, prior_right);
	return likelihood - mean <= log(error);
}

/* The largest number of wrong ones that is not rejected. */
static uint64_t most_wrong(const struct pd_tune_setting *s, double error)
{
	uint64_t low = s->wrong, high = s->unequal + 1;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		if (is_rejected(middle, s->unequal, s->wrong, s->labelled, error))
			high = middle;
		else
			low = middle;
	}
	return low;
}

/* The smallest number of wrong removals that is too large. */
static uint64_t too_many(const struct pd_tune_setting *s, double max_wrong)
{
	return (uint64_t)(max_wrong * (double)s->removed) + 1;
}

static bool is_removed(const struct pd_tune_removal *r, int setting)
{
	return (!r->suspect || setting == PD_TUNE_SUSPECTS) && r->loss <= pd_tune_limits[setting];
}

static void count_removal(struct pd_tune_setting *t, const struct pd_tune_removal *r)
{
	t->removed++;
	t->unequal += !r->equal;
	t->labelled += !r->equal && r->label;
	t->wrong += !r->equal && r->label > PD_TUNE_RIGHT;
}

/* Count the removals of a setting, of one stratum or of all (-1), and test it. */
static void test_setting(const struct pd_tune_removal *v, size_t n, int stratum, int setting, double max_wrong, double error,
			 struct pd_tune_setting *t)
{
	*t = (struct pd_tune_setting){ 0 };
	for (size_t i = 0; i < n; i++)
		if (is_removed(&v[i], setting) && (stratum < 0 || v[i].stratum == stratum))
			count_removal(t, &v[i]);
	t->accepted = is_rejected(too_many(t, max_wrong), t->unequal, t->wrong, t->labelled, error);
	t->bound = t->removed ? (double)most_wrong(t, error) / (double)t->removed : 0;
}

/* A setting counts only if all that are tested before it are accepted.  Return the accepted setting that removes most, or -1. */
static int accept_in_order(struct pd_tune_setting *s, int n)
{
	int best = -1;
	for (int i = 1; i < PD_TUNE_LIMITS; i++)
		s[i].accepted &= s[i - 1].accepted;
	for (int i = 0; i < n; i++)
		if (s[i].accepted)
			best = i;
	return best;
}

int pd_tune_choose(const struct pd_tune_removal *v, size_t n, double max_wrong, double confidence, bool suspects,
		   struct pd_tune_setting out[PD_TUNE_SETTINGS])
{
	for (int s = 0; s < PD_TUNE_SETTINGS; s++)
		test_setting(v, n, -1, s, max_wrong, error_of(s, confidence), &out[s]);
	out[PD_TUNE_SUSPECTS].accepted &= out[PD_TUNE_RUN].accepted && suspects;
	return accept_in_order(out, PD_TUNE_SETTINGS);
}

void pd_tune_choose_by_stratum(const struct pd_tune_removal *v, size_t n, double max_wrong, double confidence,
			       struct pd_tune_by_stratum *out)
{
	bool any[PD_TUNE_STRATA] = { false };
	int strata = 0;
	double wrong = 0;
	*out = (struct pd_tune_by_stratum){ 0 };
	for (size_t i = 0; i < n; i++) {
		strata += !any[v[i].stratum];
		any[v[i].stratum] = true;
	}
	for (int k = 0; k < PD_TUNE_STRATA; k++) {
		double error = (1 - confidence) * part_of_strata / (strata ? strata : 1);
		for (int s = 0; s < PD_TUNE_SUSPECTS; s++)
			test_setting(v, n, k, s, max_wrong, error * (s >= PD_TUNE_RUN ? part_of_run : 1 - part_of_run),
				     &out->settings[k][s]);
		out->best[k] = accept_in_order(out->settings[k], PD_TUNE_SUSPECTS);
		wrong += out->best[k] >= 0 ? out->settings[k][out->best[k]].bound * (double)out->settings[k][out->best[k]].removed
					   : 0;
	}
	for (size_t i = 0; i < n; i++)
		if (pd_tune_is_removed(&v[i], 0, out))
			count_removal(&out->all, &v[i]);
	out->all.bound = out->all.removed ? wrong / (double)out->all.removed : 0;
	out->all.accepted = out->all.unequal > 0;
}

bool pd_tune_is_removed(const struct pd_tune_removal *r, int setting, const struct pd_tune_by_stratum *strata)
{
	if (strata)
		setting = strata->best[r->stratum];
	return setting < 0 ? r->equal : is_removed(r, setting);
}

uint64_t pd_tune_needed(const struct pd_tune_setting *run, double max_wrong, double confidence)
{
	uint64_t n = 0;
	while (!is_rejected(too_many(run, max_wrong), run->unequal, 0, n, error_of(PD_TUNE_RUN, confidence)))
		n++;
	return n;
}

/* --- files --- */

static uint64_t key_of_pair(struct pd_span a, struct pd_span b)
{
	return pd_map_key(a) + pd_map_key(b);
}

static int read_removals(struct pd_tune *t, const struct pd_tune_options *o, struct pd_err *e)
{
	struct pd_table_reader in = { .kind = PD_TABLE_VERDICTS, .answers = true, .file = o->verdicts };
	struct pd_map by_id = { 0 }; /* page -> number of its URL + 1 */
	struct pd_span *urls = NULL, *kept = NULL;
	pd_local_buf value = { 0 }, host = { 0 }, other_host = { 0 };
	size_t n_urls = 0, cap_urls = 0, cap_kept = 0;
	int more;
	while ((more = pd_table_next(&in, e)) == 1) {
		const struct pd_span *f = in.fields;
		struct pd_span id = f[PD_VERDICTS_ID], dup_of = f[PD_VERDICTS_DUP_OF], similarity = f[PD_VERDICTS_SIMILARITY];
		double loss;
		urls = pd_big_grow(urls, n_urls, &cap_urls, sizeof *urls);
		urls[n_urls++] = pd_arena_copy(&t->arena, f[PD_VERDICTS_URL]);
		*pd_map_put(&by_id, pd_map_key(id)) = (uint32_t)n_urls;
		bool duplicate = pd_span_is(f[PD_VERDICTS_IS_DUPLICATE], "1"), suspect = pd_tsv_has(f[PD_VERDICTS_SUSPECT]);
		if ((!duplicate && !suspect) || !pd_tsv_has(dup_of) || pd_map_has(&t->by_pair, key_of_pair(id, dup_of)))
			continue;
		/* A removal whose loss is unknown belongs to the limit of the run only. */
		struct pd_tune_removal r = { .loss = pd_span_real(f[PD_VERDICTS_LOSS], &loss) ? loss : 1, .suspect = !duplicate };
		bool same = !pd_tsv_has(f[PD_VERDICTS_DISTANCE]) || pd_span_is(similarity, "1.000");
		r.equal = duplicate && same && pd_span_real(f[PD_VERDICTS_LOSS], &loss) && loss <= 0;
		uint64_t distance;
		int stratum =
			pd_span_u64(f[PD_VERDICTS_DISTANCE], &distance) && distance < PD_SAMPLE_STRATA ? (int)distance + 1 : 0;
		t->removals = pd_big_grow(t->removals, t->n, &t->cap, sizeof *t->removals);
		t->pairs = pd_big_grow(t->pairs, t->n, &t->cap_pairs, sizeof *t->pairs);
		kept = pd_big_grow(kept, t->n, &cap_kept, sizeof *kept);
		kept[t->n] = pd_arena_copy(&t->arena, dup_of);
		uint64_t order = pd_hash64_seed(id.p, id.n, pd_hash64_seed(dup_of.p, dup_of.n, o->seed));
		/* The text is completed when the URL of the page kept is known. */
		t->pairs[t->n] = (struct pd_sampled_pair){ order, stratum, 1, (char *)pd_arena_copy(&t->arena, id).p };
		t->removals[t->n] = r;
		*pd_map_put(&t->by_pair, key_of_pair(id, dup_of)) = (uint32_t)++t->n;
	}
	if (!more && in.cut)
		more = pd_fail(e, PD_ERR_INPUT, "%s: %s", o->verdicts, PD_CUT_TABLE);
	struct pd_buf text = { 0 };
	for (size_t i = 0; i < t->n && !more; i++) {
		struct pd_span id = pd_span_z(t->pairs[i].text), none = pd_span_z("-");
		const uint32_t *own = pd_map_find(&by_id, pd_map_key(id)), *other = pd_map_find(&by_id, pd_map_key(kept[i]));
		struct pd_span url = own ? urls[*own - 1] : none, kept_url = other ? urls[*other - 1] : none;
		pd_buf_clear(&text);
		pd_buf_printf(&text, "%.*s\t%.*s\t%.*s\t%.*s", (int)id.n, id.p, (int)kept[i].n, kept[i].p, (int)url.n, url.p,
			      (int)kept_url.n, kept_url.p);
		t->pairs[i].text = (char *)pd_arena_copy(&t->arena, pd_buf_span(&text)).p;
		pd_tsv_value(url, &value);
		pd_url_host(pd_buf_span(&value), &host);
		pd_tsv_value(kept_url, &value);
		pd_url_host(pd_buf_span(&value), &other_host);
		bool same = host.n && pd_span_eq(pd_buf_span(&host), pd_buf_span(&other_host));
		t->removals[i].stratum = (uint8_t)pd_names_add(&t->strata, pd_span_z(same ? "same host" : "other host"));
	}
	pd_buf_release(&text);
	pd_table_release(&in);
	pd_map_release(&by_id);
	free(urls);
	free(kept);
	return more;
}

static void bad_label(void *ctx, const char *why)
{
}

/* Add the label of another person.  A removal that two people judge differently counts as wrong. */
static void add_label(struct pd_tune_removal *r, uint8_t label)
{
	r->disputed |= r->labellers && r->label != label;
	r->label = r->disputed ? PD_TUNE_WRONG : label;
	r->labellers++;
}

static int read_labels(struct pd_tune *t, const char *path, bool override, struct pd_err *e)
{
	struct pd_truth truth;
	struct pd_truth_options o = { .bad_row = bad_label };
	int status = pd_truth_read(&truth, path, &o, e);
	if (!status && (!truth.labels || !truth.by_id))
		status = pd_fail(e, PD_ERR_INPUT, "%s has no columns id_a, id_b and label; save it from the labelling page", path);
	if (!status && truth.bad)
		status = pd_fail(e, PD_ERR_INPUT, "%s: %llu rows cannot be read", path, (unsigned long long)truth.bad);
	for (size_t i = 0; !status && i < truth.n_labels; i++) {
		const struct pd_label *l = &truth.label[i];
		const uint32_t *number = pd_map_find(&t->by_pair, key_of_pair(truth.pages.v[l->a], truth.pages.v[l->b]));
		uint8_t label = l->kind == PD_PAIR_TRUE ? PD_TUNE_RIGHT : l->kind == PD_PAIR_FALSE ? PD_TUNE_WRONG : PD_TUNE_UNSURE;
		if (!number) {
			t->unknown++;
			continue;
		}
		struct pd_tune_removal *r = &t->removals[*number - 1];
		if (override) {
			r->label = label;
			r->overridden = true;
		} else {
			add_label(r, label);
		}
	}
	pd_truth_release(&truth);
	return status;
}

/* The languages with most removals become strata, the others one. */
static int read_languages(struct pd_tune *t, const char *path, struct pd_err *e)
{
	struct pd_table_reader in = { .kind = PD_TABLE_FP, .file = path };
	struct pd_map by_page = { 0 }; /* id -> number of its language + 1 */
	struct pd_names languages = { 0 };
	int status;
	while ((status = pd_table_next(&in, e)) > 0) {
		struct pd_span language =
			pd_tsv_has(in.fields[PD_FP_LANGUAGES]) ? in.fields[PD_FP_LANGUAGES] : pd_span_z("unknown");
		*pd_map_put(&by_page, pd_map_key(in.fields[PD_FP_ID])) = pd_names_add(&languages, language) + 1;
	}
	pd_table_release(&in);
	uint32_t none = pd_names_add(&languages, pd_span_z("unknown")), n = languages.n;
	pd_local_mem uint64_t *count = pd_zalloc((n + 1) * sizeof *count);
	pd_local_mem uint32_t *language_of = pd_zalloc((t->n + 1) * sizeof *language_of);
	for (size_t i = 0; i < t->n && !status; i++) {
		struct pd_span id;
		pd_tsv_fields(pd_span_z(t->pairs[i].text), &id, 1);
		const uint32_t *language = pd_map_find(&by_page, pd_map_key(id));
		language_of[i] = language ? *language - 1 : none;
		count[language_of[i]] += !t->removals[i].equal;
	}
	pd_names_release(&t->strata);
	pd_local_mem uint32_t *stratum = pd_alloc((n + 1) * sizeof *stratum);
	memset(stratum, 0xff, (n + 1) * sizeof *stratum);
	for (int k = 0; k < PD_TUNE_STRATA - 1 && !status; k++) {
		uint32_t most = PD_NO_NAME;
		for (uint32_t i = 0; i < n; i++) {
			bool more = most == PD_NO_NAME || count[i] > count[most] ||
				    (count[i] == count[most] && pd_span_cmp(languages.v[i], languages.v[most]) < 0);
			if (stratum[i] == PD_NO_NAME && count[i] && more)
				most = i;
		}
		if (most != PD_NO_NAME)
			stratum[most] = pd_names_add(&t->strata, languages.v[most]);
	}
	uint32_t others = pd_names_add(&t->strata, pd_span_z("others"));
	for (size_t i = 0; i < t->n && !status; i++)
		t->removals[i].stratum = (uint8_t)(stratum[language_of[i]] == PD_NO_NAME ? others : stratum[language_of[i]]);
	pd_names_release(&languages);
	pd_map_release(&by_page);
	return status;
}

static int by_order(const void *x, const void *y, void *pairs)
{
	const uint32_t *a = x, *b = y;
	const struct pd_sampled_pair *p = pairs;
	if (p[*a].order != p[*b].order)
		return p[*a].order < p[*b].order ? -1 : 1;
	return strcmp(p[*a].text, p[*b].text);
}

int pd_tune_read(struct pd_tune *t, const struct pd_tune_options *o, struct pd_err *e)
{
	*t = (struct pd_tune){ 0 };
	int status = read_removals(t, o, e);
	for (int i = 0; i < o->n_labels && !status; i++)
		status = read_labels(t, o->labels[i], false, e);
	for (size_t i = 0; i < t->n && !status; i++) {
		t->twice += t->removals[i].labellers > 1;
		t->disagree += t->removals[i].disputed;
	}
	if (!status && o->override)
		status = read_labels(t, o->override, true, e);
	for (size_t i = 0; i < t->n && !status; i++)
		t->overridden += t->removals[i].overridden;
	if (!status && o->rows)
		status = read_languages(t, o->rows, e);
	if (status || !t->n)
		return status;
	/* Both arrays in random order. */
	uint32_t *order = pd_order_new(t->n);
	struct pd_sampled_pair *pairs = pd_big_alloc(t->n * sizeof *pairs);
	struct pd_tune_removal *removals = pd_big_alloc(t->n * sizeof *removals);
	qsort_r(order, t->n, sizeof *order, by_order, t->pairs);
	for (size_t i = 0; i < t->n; i++) {
		pairs[i] = t->pairs[order[i]];
		removals[i] = t->removals[order[i]];
	}
	free(order);
	free(t->pairs);
	free(t->removals);
	t->pairs = pairs;
	t->removals = removals;
	return PD_OK;
}

uint64_t pd_tune_sum(const struct pd_tune *t, int setting, const struct pd_tune_by_stratum *strata)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < t->n; i++) {
		struct pd_span f[2];
		pd_tsv_fields(pd_span_z(t->pairs[i].text), f, 2);
		sum += pd_tune_is_removed(&t->removals[i], setting, strata) ? pd_estimate_removal(f[0], f[1]) : 0;
	}
	return sum;
}

int pd_tune_write_verdicts(const struct pd_tune *t, const char *verdicts, const char *output, struct pd_span estimate, int setting,
			   const struct pd_tune_by_stratum *strata, struct pd_err *e)
{
	struct pd_table_reader in = { .kind = PD_TABLE_VERDICTS, .file = verdicts };
	struct pd_map removed = { 0 }, size = { 0 }; /* removed page -> 1; page kept -> number of pages that it represents */
	struct pd_outfile out = { 0 };
	pd_local_buf line = { 0 };
	int more = 0, status = pd_outfile_open(&out, output, e);
	for (size_t i = 0; i < t->n; i++) {
		struct pd_span f[2];
		pd_tsv_fields(pd_span_z(t->pairs[i].text), f, 2);
		if (t->removals[i].suspect || !pd_tune_is_removed(&t->removals[i], setting, strata))
			continue;
		*pd_map_put(&removed, pd_map_key(f[0])) = 1;
		++*pd_map_put(&size, pd_map_key(f[1]));
	}
	for (bool first = true; !status && (more = pd_table_next(&in, e)) > 0; first = false) {
		const struct pd_span *f = in.fields;
		if (first) {
			pd_buf_printf(&line, "# pagededup verdicts 1 %s | estimate=%.*s" PD_ROW_ENDS "\n",
				      pd_buf_z(&in.header.must), (int)estimate.n, estimate.p);
			pd_row_names(pd_verdicts_columns, &line);
			fwrite(line.p, 1, line.n, out.f);
		}
		bool duplicate = pd_span_is(f[PD_VERDICTS_IS_DUPLICATE], "1"), suspect = pd_tsv_has(f[PD_VERDICTS_SUSPECT]);
		const uint32_t *n = pd_map_find(&size, pd_map_key(f[PD_VERDICTS_ID]));
		if (duplicate ? !pd_map_has(&removed, pd_map_key(f[PD_VERDICTS_ID])) : !suspect && !n)
			continue;
		struct pd_span row[PD_VERDICTS_COLUMNS];
		char members[16];
		memcpy(row, f, sizeof row);
		if (!duplicate && !suspect)
			row[PD_VERDICTS_CLUSTER_SIZE] = pd_span(members, (size_t)snprintf(members, sizeof members, "%u", *n + 1));
		pd_buf_clear(&line);
		pd_tsv_join(&line, row, NULL, PD_VERDICTS_COLUMNS);
		pd_buf_add_c(&line, '\n');
		fwrite(line.p, 1, line.n, out.f);
	}
	if (!status && more >= 0) {
		pd_buf_clear(&line);
		pd_row_end(pd_buf_span(&in.totals), false, 0, &line);
		fwrite(pd_buf_z(&line), 1, line.n, out.f);
	}
	pd_table_release(&in);
	pd_map_release(&removed);
	pd_map_release(&size);
	return pd_outfile_close(&out, status ? status : more < 0 ? more : PD_OK, e);
}

void pd_tune_release(struct pd_tune *t)
{
	pd_names_release(&t->strata);
	free(t->removals);
	free(t->pairs);
	pd_map_release(&t->by_pair);
	pd_arena_release(&t->arena);
}
