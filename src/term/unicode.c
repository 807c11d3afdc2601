/* SPDX-License-Identifier: MIT
 *
 * The table that tools/gen_unicode.c prints: pd_unicode_block, pd_unicode_kind, pd_unicode_kinds.
 */
#include "term/unicode.h"

#include "unicode_table.h"
