#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program in Debian 13, which is installed into a folder.  SMOKE=1: without the tests that take minutes.
. "$(dirname "$0")/system.bash"
if [ -n "${SMOKE:-}" ]; then test_system trixie tests/shell/selftest.sh
else test_system trixie tests/shell/golden.sh tests/shell/selftest.sh tests/shell/pipe.sh tests/shell/match.sh; fi
