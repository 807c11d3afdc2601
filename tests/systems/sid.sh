#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Debian unstable: the newest compiler and libraries, in a folder.  A warning of a newer compiler is printed and is not
# a failure.
dev=
. "$(dirname "$0")/system.bash"
test_system sid tests/shell/golden.sh tests/shell/selftest.sh tests/shell/pipe.sh tests/shell/match.sh
