/* SPDX-License-Identifier: MIT
 *
 * Steps of join that are steps of batch, too.
 */
#ifndef PD_ENGINE_JOIN_H
#define PD_ENGINE_JOIN_H

#include "engine/params.h"

int pd_engine_map_count(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
/* With a batch the new pages are counted, too. */
int pd_engine_reduce_count(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_map_doubts(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_reduce_doubts(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_map_pairs(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
int pd_engine_reduce_pairs(const struct pd_engine *t, struct pd_engine_params *p, struct pd_err *e);
/* The values of the lines of one kind. */
int pd_engine_copy_tagged(const char *tag, struct pd_err *e);

#endif
