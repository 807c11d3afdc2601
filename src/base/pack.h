/* SPDX-License-Identifier: MIT
 *
 * Compression: bytes in, one member of a codec out, piece by piece.  Only what `apply` must write again is compressed;
 * levels are the codecs' own defaults.  The same bytes give the same member, whatever the pieces.
 *
 * Adding a codec: a `struct pd_pack_ops` in its codec_NAME.c, a row in pack.c, a row in tests/unit/test_codec.c.
 */
#ifndef PD_BASE_PACK_H
#define PD_BASE_PACK_H

#include "base/codec.h"

struct pd_packer;

struct pd_packer *pd_packer_new(void);
void pd_packer_free(struct pd_packer *p);
/* A new member of `codec`: gzip, zstd or lz4; PD_CODEC_NONE passes bytes on. */
void pd_pack_start(struct pd_packer *p, enum pd_codec codec);
/* All of `in` is taken; what comes out of it so far is appended to `out`. */
void pd_pack_feed(struct pd_packer *p, struct pd_span in, struct pd_buf *out);
/* The end of the member. */
void pd_pack_end(struct pd_packer *p, struct pd_buf *out);

#endif
