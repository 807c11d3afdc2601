/* SPDX-License-Identifier: MIT
 *
 * Plan `paper`: the documents' scheme (M7; seed 000, module 400).  Four blocks, each exchanged with the first in turn;
 * four tables of permuted keys sorted by the first block; each key is looked for by binary search and compared with the
 * run of equal first blocks.  Keys that differ in up to three bits share a block.  Also: G. S. Manku, A. Jain, A. Das
 * Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.
 */
#ifndef PD_JOIN_PAPER_H
#define PD_JOIN_PAPER_H

#include "base/items.h"
#include "join/join.h"

#define PD_PAPER_BLOCKS 4

/* lists: as pd_blocks_join; a pair is given by the first table that finds it. */
void pd_paper_join(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct pd_items *lists);

#endif
