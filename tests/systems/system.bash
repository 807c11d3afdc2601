# SPDX-License-Identifier: MIT
# Shared by the tests in other releases of Debian: a folder with the release, kept between runs, in which the program is
# built with the release's compiler and libraries.
. "$(dirname "$0")/../tap.sh"
cache=${XDG_CACHE_HOME:-${HOME:-/var/cache}/.cache}/pagededup/systems

give_up() { # REASON
	skip "$system" "$1"
	tap_done
	exit
}

# Install a release into a folder, with all packages for building and testing and, if it exists, the work of the
# function prepare; or skip the test with the reason.
need_system() { # NAME RELEASE PACKAGE…
	system=$1
	local release=$2 packages
	root=$cache/$system
	shift 2
	packages=$(grep -v '^#' "$TOP/tools/libraries" | cut -f 3 | sort | paste -sd,),gcc,g++,libc6-dev,make,pkg-config,ccache,check,python3,python3-jieba,libunistring-dev${*:+,}$(IFS=,; echo "$*")
	[ "$(id -u)" = 0 ] || give_up "debootstrap and chroot need root"
	unshare --mount true 2>/dev/null || give_up "nothing can be mounted here"
	[ "$(cat "$root/packages" 2>/dev/null)" != "$packages" ] || return 0
	command -v debootstrap >/dev/null || give_up "debootstrap is not installed"
	rm -rf --one-file-system "$root" "$root.new"
	mkdir -p "$cache"
	debootstrap --variant=minbase --include="$packages" "$release" "$root.new" >"$tmp/debootstrap.log" 2>&1 ||
		give_up "debootstrap: $(grep -v '^I:' "$tmp/debootstrap.log" | tail -1)"
	if declare -F prepare >/dev/null; then
		prepare "$root.new" >"$tmp/prepare.log" 2>&1 || give_up "its packages: $(grep '^E:' "$tmp/prepare.log" | tail -1)"
	fi
	echo "$packages" >"$root.new/packages"
	mv "$root.new" "$root"
}

# Bash's <(…) is in /proc, which is mounted for this process and its children, and unmounted with them.
inside() { # COMMAND…: in the source's folder of the system
	unshare --mount bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TEST_JOBS="$(nproc)" \
		bash -c 'cd /source && exec "$@"' bash "$@"
}

# Copy the files of this tree, remove files that no longer exist, and keep the build folder.
bring_source() {
	mkdir -p "$root/source"
	find "$root/source" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	(cd "$TOP" && if git rev-parse -q --verify HEAD >/dev/null 2>&1; then git ls-files -z --cached --others --exclude-standard
	else find . -path ./build -prune -o -type f -print0; fi | tar --null --no-recursion --ignore-failed-read -T - -cf - 2>/dev/null) | tar -xf - -C "$root/source"
}

test_system() { # RELEASE TEST…
	need_system "$1" "$1"
	shift
	bring_source
	units=$(printf 'build/tests/%s ' "${units[@]}")
	run inside make -s -j"$(nproc)" DEV="${dev-1}" CC='ccache gcc' all $units
	exits "$system: builds${dev-" without a warning"}" 0
	[ -n "${dev-1}" ] || diag "warnings: $(grep -c warning: "$tmp/err")"
	[ $code = 0 ] || { diag "$(grep -m5 -E 'error|warning' "$tmp/err")"; tap_done; exit; }
	diag "$(inside build/pagededup version | tail -1)"
	run inside build/pagededup selftest --long
	exits "$system: selftest --long" 0
	cp "$tmp/out" there
	same "$system: the same fingerprints as here" <(grep 'golden\|probe\|dictionary' there) <("$P" selftest --long | grep 'golden\|probe\|dictionary')
	mkdir -p "$root/tmp/demo" && cp "$demo" "$root/tmp/demo/demo.warc.gz"
	cp "$demo" demo.warc.gz
	inside sh -c 'cd /tmp/demo && /source/build/pagededup fp -q demo.warc.gz' >there.fp
	"$P" fp -q demo.warc.gz >here.fp
	same "$system: the same rows of the demo" there.fp here.fp
	run inside env B=build tests/run $units "$@"
	exits "$system: $(tail -1 "$tmp/out")" 0
	[ $code = 0 ] || diag "$(grep -A3 '^not ok' "$tmp/out" | head -20)"
	# Contexts that threads open at the same time, in one process after the other (test_api.c): the first use of a
	# library.
	for i in 1 2; do
		run inside env CK_RUN_CASE=threads CK_DEFAULT_TIMEOUT=600 build/tests/test_api
		exits "$system: contexts opened by many threads, $i" 0
	done
	tap_done
}

# Tests that depend on the compiler and on libraries.
units=(test_api test_decode test_dict test_html test_http test_meta test_segment test_sign)
