/* SPDX-License-Identifier: MIT */
#include "match/verify.h"

#include <math.h>

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
