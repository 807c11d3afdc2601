#!/bin/sh
# SPDX-License-Identifier: MIT
# The gate pages are one test program among the others.
exec "$TOP/tests/gate.sh"
