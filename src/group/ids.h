/* SPDX-License-Identifier: MIT
 *
 * Ids of pages -> numbers 0, 1, 2 … in the order in which they were first seen, twelve bytes and a slot of a table (five
 * bytes) for each: an id is known by its file, of which there are few, and its offset (base/page_id.h).
 */
#ifndef PD_GROUP_IDS_H
#define PD_GROUP_IDS_H

#include "base/fields.h"
#include "base/map.h"

struct pd_ids {
	struct pd_names files;
	struct pd_names odd;	/* ids that no stage writes, such as f:007: known by all their bytes */
	uint32_t *file;		/* by number; its two highest bits: enum form in ids.c */
	uint64_t *offset;	/* with an odd id its number among those */
	size_t n, cap_file, cap_offset;
	struct pd_index index;	/* of what is in `file` and `offset` */
	uint32_t last_file;	/* that was asked for */
};

/* An id taken apart. */
struct pd_id_place {
	uint32_t file;		/* with the form; PD_NO_NAME: 2^30 files are known, and this would be one more */
	uint64_t offset;
};

/* The number of this id; *is_new when it was not known.  PD_NO_NAME: 2^30 files. */
uint32_t pd_ids_add(struct pd_ids *ids, struct pd_span id, bool *is_new);
/* The same in steps, for many ids at a time: the memory that a later step needs is asked for before, so that none waits. */
struct pd_id_place pd_ids_place(struct pd_ids *ids, struct pd_span id);
void pd_ids_expect(const struct pd_ids *ids, struct pd_id_place at);		/* its slot */
void pd_ids_expect_more(const struct pd_ids *ids, struct pd_id_place at);	/* what its slot points to */
uint32_t pd_ids_add_place(struct pd_ids *ids, struct pd_id_place at, bool *is_new);
/* All numbers in the order of their ids; to be freed.  Nothing can be added any more. */
uint32_t *pd_ids_order(struct pd_ids *ids);
/* Gives back what only `add` needs. */
void pd_ids_close(struct pd_ids *ids);
void pd_ids_release(struct pd_ids *ids);

#endif
