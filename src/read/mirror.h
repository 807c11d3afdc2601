/* SPDX-License-Identifier: MIT
 *
 * Pages on disk as wget and HTTrack lay a mirror out: FOLDER/HOST/PATH, with wget also FOLDER/http/HOST/PATH.  In: a path as
 * typed, or that of a file in an archive.  Out: the URL that it is of.
 */
#ifndef PD_READ_MIRROR_H
#define PD_READ_MIRROR_H

#include "base/buf.h"

/* Appends "http://HOST/PATH".  The host is the first folder of the path that is called like one: labels with dots between,
 * of which the last is a top-level domain; an IPv4 address; either with a port, or localhost with one.  False: there is none. */
bool pd_read_mirror_url(struct pd_span path, struct pd_buf *url);

#endif
