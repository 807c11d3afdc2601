/* SPDX-License-Identifier: MIT
 *
 * The URL of a file in a mirror, from its path.
 */
#ifndef PD_READ_MIRROR_H
#define PD_READ_MIRROR_H

#include "base/buf.h"

/* Append "http://HOST/PATH".  The host is the first folder in the path that has the name of a host: labels separated
 * by dots that end in a top-level domain, or an IPv4 address, each with or without a port; or localhost with a port.
 * Return false if there is none. */
bool pd_read_mirror_url(struct pd_span path, struct pd_buf *url);

#endif
