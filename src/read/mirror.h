/* SPDX-License-Identifier: MIT
 *
 * The URL of a file in a mirror, from its path.
 */
#ifndef PD_READ_MIRROR_H
#define PD_READ_MIRROR_H

#include "base/buf.h"

/* Append "http://HOST/PATH".  The host is the first folder in the path with the name of a host: labels separated by
 * dots, of which the last is a top-level domain; an IPv4 address; either with a port, or localhost with a port.  Return
 * false if there is none. */
bool pd_read_mirror_url(struct pd_span path, struct pd_buf *url);

#endif
