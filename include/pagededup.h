/* SPDX-License-Identifier: MIT
 *
 * pagededup as a library: a page's bytes in, its fingerprint out; and the distance of two fingerprints.
 *
 *	pagededup_context *c;
 *	pagededup_page page;
 *	if (pagededup_open(&c, NULL, error, sizeof error) == 0 &&
 *	    pagededup_sign(c, body, n, "text/html; charset=gbk", &page) == 0 && page.bits)
 *		…
 *	pagededup_close(c);
 *
 * One context belongs to one thread; several may live side by side.  Everything that a page points to belongs to the
 * context and dies at the next pagededup_sign or at pagededup_close.  When memory runs out a
 * call returns PAGEDEDUP_ERR_MEMORY; the context is then good for pagededup_close alone, which does not give back all of its
 * memory.  (In the charset detector, a library of C++, a want of memory ends the process.)
 * A fingerprint is the one that `pagededup fp` writes for the same bytes and settings (docs/methods.md).
 */
#ifndef PAGEDEDUP_H
#define PAGEDEDUP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PAGEDEDUP_API __attribute__((visibility("default")))
#else
#define PAGEDEDUP_API
#endif

#define PAGEDEDUP_ERR_MEMORY (-5)

typedef struct pagededup_context pagededup_context;

typedef struct pagededup_page {
	int bits;			/* 64, 128 or 256; 0: too little text for a fingerprint */
	uint64_t fingerprint[4];	/* bits / 64 words, the first hex digits in word 0 */
	const char *text_digest;	/* 32 hex digits, or "" when there is no text */
	const char *text;		/* main text, UTF-8 */
	size_t text_bytes;
	uint64_t terms;			/* kept terms that were signed */
	const char *charset;		/* WHATWG name in lower case */
} pagededup_page;

/* Settings: "preset=paper shingle=3 bits=128"; keys preset, topic, hidden, segment, bits, shingle, weights, hash, features,
 * min_terms, max_page, values as `pagededup info` prints them; NULL or "": the defaults.
 * 0, or a negative status with a message in `error` (may be NULL with size 0). */
PAGEDEDUP_API int pagededup_open(pagededup_context **out, const char *settings, char *error, size_t error_size);
PAGEDEDUP_API void pagededup_close(pagededup_context *c);

/* `content_type` as HTTP sent it, or NULL: then the bytes decide.  0; negative: the bytes are no page. */
PAGEDEDUP_API int pagededup_sign(pagededup_context *c, const void *body, size_t bytes, const char *content_type, pagededup_page *out);

/* Bits in which two fingerprints of the same width differ. */
PAGEDEDUP_API int pagededup_distance(const uint64_t *a, const uint64_t *b, int bits);

/* 8 hex digits: equal for contexts whose fingerprints can be compared. */
PAGEDEDUP_API const char *pagededup_params(const pagededup_context *c);
PAGEDEDUP_API const char *pagededup_version(void);
/* What a negative status means, in a few words. */
PAGEDEDUP_API const char *pagededup_strerror(int status);

#ifdef __cplusplus
}
#endif

#endif
