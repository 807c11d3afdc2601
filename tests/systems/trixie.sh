#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Debian 13, in a folder.
. "$(dirname "$0")/system.bash"
test_system trixie tests/shell/golden.sh tests/shell/selftest.sh tests/shell/pipe.sh tests/shell/match.sh
