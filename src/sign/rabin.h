/* SPDX-License-Identifier: MIT
 *
 * Rabin fingerprints (M. O. Rabin, "Fingerprinting by Random Polynomials", TR-15-81, Harvard 1981): the string as a
 * polynomial over GF(2), highest coefficient first, times x^bits, modulo an irreducible polynomial of degree `bits`.
 * The factor x^bits keeps short strings from being their own fingerprint; a leading 1 bit before the string makes
 * leading zero bytes count.  The polynomials are ours and stand in rabin.c and docs/methods.md.
 */
#ifndef PD_SIGN_RABIN_H
#define PD_SIGN_RABIN_H

#include "base/hash.h"

struct pd_rabin;	/* tables for one width, read only once made */

struct pd_rabin *pd_rabin_new(int bits);
void pd_rabin_free(struct pd_rabin *r);
/* The polynomial of this width without its leading term. */
const struct pd_key *pd_rabin_polynomial(int bits);
void pd_rabin(const struct pd_rabin *r, struct pd_span s, struct pd_key *out);

#endif
