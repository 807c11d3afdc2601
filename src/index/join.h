/* SPDX-License-Identifier: MIT
 *
 * Keys of one width -> every pair within Hamming distance k, each once.  The result is exact for every k up to a
 * quarter of the width: the same pairs as comparing all keys with all, for every plan, order of the keys and number
 * of threads.
 *
 * The general pigeonhole principle is used (G. S. Manku et al., WWW 2007, for radius 0; J. Qin et al., "GPH: Similarity
 * Search in Hamming Space", ICDE 2018): divide the key into m blocks and give each a radius r_i, with the radii summing
 * to k - m + 1; then two keys within k are within r_i in at least one block.  A block with radius -1 is not used.  A
 * pair is emitted for the first block that finds it.
 */
#ifndef PD_INDEX_JOIN_H
#define PD_INDEX_JOIN_H

#include "index/keys.h"

/* Find all pairs, sorted by (a, b), within the rest of a budget; NULL: any amount of memory.  The time of each step is
 * added to the plan.  If the tables do not fit, the keys are divided into stretches; each is joined with itself and with
 * each other one, by a plan of the same kind that is chosen for the size of a stretch.  Pairs that do not fit are sorted
 * on disk.  If keys->limit is set and there are more pairs than the limit, keys->limit->found is above it and `out` is
 * empty.  Only the keys decide whether the limit is exceeded. */
int pd_index_join(const struct pd_index_keys *keys, struct pd_index_plan *plan, int threads, struct pd_budget *budget,
		  struct pd_index_pairs *out, struct pd_err *e);
/* Convert sorted items to pairs: the halves of the key become a and b, the value becomes the distance.  Takes over
 * their memory. */
void pd_index_pairs_take(struct pd_index_pairs *out, struct pd_items *items);
void pd_index_pairs_release(struct pd_index_pairs *p);

#endif
