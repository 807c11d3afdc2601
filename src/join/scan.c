/* SPDX-License-Identifier: MIT
 *
 * Which of the paths runs here.  Later ones of the table are faster.
 */
#include "join/scan.h"

#include <stdlib.h>

#include "join/scan_paths.h"

const struct pd_scan *pd_scan_get(enum pd_scan_path path)
{
	static const struct pd_scan *(*const paths[PD_SCAN_PATHS])(void) = { pd_scan_portable, pd_scan_neon, pd_scan_avx2,
									     pd_scan_avx512 };
	return paths[path]();
}

const struct pd_scan *pd_scan_best(void)
{
	const struct pd_scan *best = NULL, *scan;
	const char *wanted = getenv("PAGEDEDUP_SCAN");
	for (int i = 0; i < PD_SCAN_PATHS; i++) {
		scan = pd_scan_get((enum pd_scan_path)i);
		if (scan && wanted && !strcmp(wanted, scan->name))
			return scan;
		best = scan ? scan : best;
	}
	return best;
}
