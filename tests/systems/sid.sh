#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Debian unstable: the newest compiler and libraries, in a folder.  A warning that a new compiler has learnt is told, and no failure.
dev=
. "$(dirname "$0")/system.bash"
test_system sid tests/shell/golden.sh tests/shell/selftest.sh tests/shell/pipe.sh tests/shell/match.sh
