/* SPDX-License-Identifier: MIT
 * Rows of test_sign.c: the published vectors (docs/methods.md). */
{ "simhash 64 xxh3", 64, 3, PD_HASH_XXH3, PD_WEIGHTS_TF, "8b2437f838b8ee8e" },
	{ "simhash 128 xxh3", 128, 3, PD_HASH_XXH3, PD_WEIGHTS_TF, "49a11dd58244d3e4f0b531930a8c33bd" },
	{ "simhash 256 xxh3", 256,	     3,
	  PD_HASH_XXH3,	      PD_WEIGHTS_TF, "49a11dd58244d3e4f0b531930a8c33bd6aaacff16785604b3e61dd27140ff4fd" },
	{ "simhash 64 rabin", 64, 3, PD_HASH_RABIN, PD_WEIGHTS_TF, "c2c59be620f5fb67" },
	{ "simhash 128 rabin", 128, 3, PD_HASH_RABIN, PD_WEIGHTS_TF, "9f131cc1c4aa79a9d1eaadcf5dc793c6" },
	{ "simhash 256 rabin", 256,	      3,
	  PD_HASH_RABIN,       PD_WEIGHTS_TF, "eae74a1ea03be5cf8d7d00fb1388d62bebfbd87b92b837ff2be46ed55ef6d14b" },
	{ "2-term shingles, each occurrence", 64, 2, PD_HASH_XXH3, PD_WEIGHTS_COUNT, "90d07e50118905e0" },
	{ "single terms, each once", 64, 1, PD_HASH_XXH3, PD_WEIGHTS_SET, "227805ea9ccb9bb5" },
