/* SPDX-License-Identifier: MIT
 *
 * The method `simhash`: shingles -> hash -> weighted majority of each bit (M. Charikar, STOC 2002; patent CN101645082,
 * module 300).
 */
#ifndef PD_SIGN_SIMHASH_H
#define PD_SIGN_SIMHASH_H

#include "sign/method.h"

extern const struct pd_method pd_simhash_method;

#endif
