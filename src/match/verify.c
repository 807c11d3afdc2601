/* SPDX-License-Identifier: MIT */
#include "match/verify.h"

#include <math.h>
#include <stdlib.h>

int pd_verify_default_k(int bits, size_t n_keys)
{
	double ways = 1, ball = 1;	/* keys at distance k + 1 from one, and within it */
	int k = 0;
	for (; k < bits / 4; k++) {
		ways = ways * (bits - k) / (k + 1);
		ball += ways;
		if (n_keys / 2. * ldexp(ball, -bits) > PD_VERIFY_CANDIDATES)
			break;
	}
	return k;
}

/* "90%" or "90" -> .9 */
static int read_percentage(const char *text, double *out, struct pd_err *e)
{
	char *end;
	double v = strtod(text, &end);
	if (end == text || (*end && strcmp(end, "%") != 0) || !(v >= 1 && v <= 100))
		return pd_fail(e, PD_ERR_USAGE, "--similar: '%s' is no percentage from 1%% to 100%%, such as 90%%", text);
	*out = v / 100;
	return PD_OK;
}

int pd_verify_settle(const struct pd_verify_request *r, bool unlooked, struct pd_verify_options *out, struct pd_err *e)
{
	bool said = r->similarity >= 0, same_host_said = r->similarity_same_host >= 0;
	*out = (struct pd_verify_options)PD_VERIFY_DEFAULTS;
	out->off = r->verify < 0 ? unlooked : !r->verify;
	if (r->similar && (said || same_host_said))
		return pd_fail(e, PD_ERR_USAGE, "--similar and --%s say the same thing: give one of them",
			       said ? "similarity" : "similarity-same-host");
	if (r->similar) {
		int status = read_percentage(r->similar, &out->least, e);
		out->least_same_host = out->least;
		return status;
	}
	if (said)
		out->least = r->similarity;
	if (same_host_said)
		out->least_same_host = r->similarity_same_host;
	else if (out->least_same_host < out->least)
		out->least_same_host = out->least;
	if (said && out->least_same_host < out->least)
		return pd_fail(e, PD_ERR_USAGE, "--similarity=%g holds everywhere: --similarity-same-host=%g is lower", r->similarity,
			       r->similarity_same_host);
	return PD_OK;
}

void pd_verify_explain(const struct pd_verify_options *o, struct pd_buf *out)
{
	pd_buf_printf(out, "a pair shares %g%% of its text, %g%% on one host, by the sketches (--similar sets both)\n", o->least * 100,
		      o->least_same_host * 100);
}

bool pd_verify_hosts(const struct pd_verify_options *o, double similarity, bool same_host)
{
	return similarity >= (same_host ? o->least_same_host : o->least);
}

enum pd_look pd_verify(const struct pd_verify_options *o, double similarity, int distance)
{
	if (o->off)
		return PD_LOOK_YES;
	if (similarity < 0)
		return distance <= o->k_unknown ? PD_LOOK_YES : PD_LOOK_NO;
	bool same = pd_verify_hosts(o, similarity, true), other = pd_verify_hosts(o, similarity, false);
	return same != other ? PD_LOOK_BY_HOST : same ? PD_LOOK_YES : PD_LOOK_NO;
}

static double similarity_of(const struct pd_rows *rows, uint32_t a, uint32_t b)
{
	struct pd_sketch x, y;
	if (!pd_rows_sketch(rows, a, &x) || !pd_rows_sketch(rows, b, &y))
		return PD_SIMILARITY_UNKNOWN;
	return pd_sketch_similarity(&rows->sketch, &x, &y);
}

/* Pages without a host, such as files, are on no host in common. */
bool pd_verify_rows(struct pd_verifier *v, uint32_t a, uint32_t b, int distance, double *similarity)
{
	*similarity = similarity_of(v->rows, a, b);
	enum pd_look look = pd_verify(v->o, *similarity, distance);
	if (look != PD_LOOK_BY_HOST)
		return look == PD_LOOK_YES;
	uint64_t host = pd_rows_host(v->rows, a, v->scratch);
	bool known = host != pd_hash64("", 0);
	return pd_verify_hosts(v->o, *similarity, known && host == pd_rows_host(v->rows, b, v->scratch));
}

void pd_verifier_release(struct pd_verifier *v)
{
	pd_buf_release(&v->scratch[0]);
	pd_buf_release(&v->scratch[1]);
}
