/* SPDX-License-Identifier: MIT
 *
 * The constants: `make bench BENCH=calibrate` measures them, one thread, keys of random bits, the minimum of several
 * runs (docs/performance.md).  A key with a vector counts 1.3 times that, because in a join runs are short and some are
 * near, and a candidate four times, with what finding it costs.  Those here are of a server processor of 2023; a plan chosen by the constants of another
 * machine is seldom the best there, but gives the same pairs.
 */
#include "join/cost.h"

#include <math.h>

const struct pd_cost *pd_cost_of(enum pd_scan_path path)
{
	static const struct pd_cost costs[PD_SCAN_PATHS] = {
		/* half, 64, 128, 256 bits */
		[PD_SCAN_PORTABLE] = { { 4.4, 4.8, 7.9, 15.2 }, { 4, 2, 2, 2 }, 24, 45 },
		[PD_SCAN_NEON] = { { 1.6, 1.6, 2.9, 5.5 }, { 4, 2, 2, 2 }, 24, 45 },	/* estimated, not measured */
		[PD_SCAN_AVX2] = { { 1.75, 1.5, 3.0, 5.8 }, { 8, 4, 4, 4 }, 24, 45 },
		[PD_SCAN_AVX512] = { { .8, 1.0, 1.6, 3.6 }, { 16, 8, 8, 8 }, 22, 45 },
	};
	return &costs[path];
}

double pd_cost_cross(const struct pd_cost *c, enum pd_scan_width width, double n_a, double n_b)
{
	/* On average the last vector is half full; a run has one at least. */
	double vectors = fmax(1, n_b / c->lanes[width] + .5);
	return c->meeting + n_a * vectors * c->vector[width];
}

double pd_cost_gathered(const struct pd_cost *c, enum pd_scan_width width, double n_a, double n_b, bool far)
{
	return PD_COST_GATHER + (far ? PD_COST_FAR : 0) + n_a * n_b / c->lanes[width] * c->vector[width];
}
