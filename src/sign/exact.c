/* SPDX-License-Identifier: MIT
 *
 * The method `exact`: a digest of the page's body, of its visible text, or of its main text.  Texts are folded first
 * (NFKC, case, white space: term/fold.h); the body is used byte for byte, after HTTP's codings were removed.  Digests:
 * MD5 and Rabin fingerprints (an encyclopaedia's entry on removing duplicate pages; patent CN101645082), SHA-1 in
 * base32 as in crawls, and the fast XXH3-128.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "sign/sign.h"

enum { OF, HASH };
enum { OF_BODY, OF_VISIBLE, OF_TEXT };
enum { HASH_MD5, HASH_SHA1, HASH_XXH3, HASH_RABIN64, HASH_RABIN128 };

void pd_text_digest(struct pd_folder *f, const struct pd_secret *secret, struct pd_span text, struct pd_buf *scratch,
		    struct pd_buf *out)
{
	struct pd_key k = { { 0 } };
	pd_buf_clear(out);
	pd_fold(f, text, scratch);
	if (!scratch->n)
		return;
	pd_sign_hash128(secret, pd_buf_span(scratch), k.w);
	pd_key_hex(&k, 128, out);
}

struct exact {
	int of, hash;
	const struct pd_secret *secret;
	struct pd_rabin *rabin; /* NULL: another hash is used */
};

static bool exact_wants_body(const double *value)
{
	return (int)value[OF] == OF_BODY;
}

static int exact_open(void **state, const struct pd_method_open *with, struct pd_err *e)
{
	if (with->fingerprint->secret && !with->fingerprint->of_run && with->value[HASH] >= HASH_RABIN64)
		return pd_fail(e, PD_ERR_USAGE, "--key: the hash rabin takes no key; use --method=exact:hash=xxh3");
	struct exact *x = pd_zalloc(sizeof *x);
	x->secret = with->fingerprint->secret;
	x->of = (int)with->value[OF];
	x->hash = (int)with->value[HASH];
	if (x->hash >= HASH_RABIN64)
		x->rabin = pd_rabin_new(x->hash == HASH_RABIN64 ? 64 : 128);
	*state = x;
	return PD_OK;
}

static void exact_close(void *state)
{
	struct exact *x = state;
	pd_rabin_free(x->rabin);
	free(x);
}

static struct pd_span signed_text(const struct exact *x, const struct pd_sign_page *in)
{
	switch (x->of) {
	case OF_BODY: return in->body;
	case OF_VISIBLE: return pd_sign_folded(in, pd_sign_visible(in));
	default: return pd_sign_folded(in, pd_buf_span(&in->topic->text));
	}
}

static void exact_sign(void *state, const struct pd_sign_page *in, struct pd_signature *out)
{
	struct exact *x = state;
	struct pd_span text = signed_text(x, in);
	struct pd_key key = { { 0 } };
	out->present = text.n > 0;
	if (!out->present)
		return;
	switch (x->hash) {
	case HASH_MD5: pd_md5_hex(text, &out->column); break;
	case HASH_SHA1: pd_sha1_base32(text, &out->column); break;
	case HASH_XXH3:
		pd_sign_hash128(x->secret, text, key.w);
		pd_key_hex(&key, 128, &out->column);
		break;
	default: pd_rabin(x->rabin, text, &key); pd_key_hex(&key, x->hash == HASH_RABIN64 ? 64 : 128, &out->column);
	}
}

/* clang-format off */
static const struct pd_method_param exact_params[] = {
	[OF] = { .name = "of", .choices = "body,visible,text", .normal = OF_TEXT, .paper = OF_TEXT, .help = "input of the digest" },
	[HASH] = { .name = "hash", .choices = "md5,sha1,xxh3,rabin64,rabin128", .normal = HASH_XXH3, .paper = HASH_MD5,
	  .help = "the digest" },
	{ .name = NULL },
};
/* clang-format on */

const struct pd_method pd_exact_method = {
	.name = "exact",
	.kind = PD_SIGN_KEY,
	.summary = "pages with the same body, visible text or main text, by a digest",
	.params = exact_params,
	.wants_body = exact_wants_body,
	.open = exact_open,
	.close = exact_close,
	.sign = exact_sign,
};
