/* SPDX-License-Identifier: MIT
 *
 * What the files of a store have in common (docs/format-store.md): versions, sizes, and numbers as bytes.  All numbers are
 * little-endian and used in place.
 *
 *	DIR/manifest	text: parameters, and which of the other files belong to the store
 *	DIR/log-N	what was added and removed since the last segment: checksummed records, appended
 *	DIR/seg-N	pages, immutable: columns, permuted tables, indexes, compressed rows
 *	DIR/gone-N	numbers of pages in segments that were removed or replaced
 *	DIR/lock	empty; who writes holds it
 */
#ifndef PD_STORE_LAYOUT_H
#define PD_STORE_LAYOUT_H

#include "base/hash.h"

#define PD_STORE_VERSION 2
#define PD_STORE_BLOCK 16384	/* bytes of a segment under one checksum */
#define PD_STORE_ALIGN 64	/* of the sections of a segment */
#define PD_STORE_TABLES_MAX 16
#define PD_STORE_ROW_MAX (1 << 20)	/* bytes of a row's text */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the store's files are used in place: little-endian only");

/* What a page has, in the column `has` of a segment and in records of the log. */
enum pd_store_has {
	PD_STORE_HAS_PRINT = 1,
	PD_STORE_HAS_SKETCH = 2,
	PD_STORE_HAS_DIGEST = 4,
	PD_STORE_HAS_BANDS = 8	/* it lies in a dense place (judge.h): found by bands of its sketch, in no table of keys */
};

/* Is a page with these found by its key? */
static inline bool pd_store_in_tables(uint8_t has)
{
	return (has & (PD_STORE_HAS_PRINT | PD_STORE_HAS_BANDS)) == PD_STORE_HAS_PRINT;
}

static inline void pd_store_put32(struct pd_buf *b, uint32_t v)
{
	pd_buf_add(b, &v, sizeof v);
}

static inline void pd_store_put64(struct pd_buf *b, uint64_t v)
{
	pd_buf_add(b, &v, sizeof v);
}

static inline uint32_t pd_store_get32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint64_t pd_store_get64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

#endif
