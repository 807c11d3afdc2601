#!/bin/sh
# SPDX-License-Identifier: MIT
# The golden pages are one test program among the others.
exec "$TOP/tests/golden.sh"
