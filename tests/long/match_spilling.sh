#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/shell/match_spilling.sh with each search on one thread and on two.
THREADS="1 2" exec bash "$(dirname "$0")/../shell/match_spilling.sh"
