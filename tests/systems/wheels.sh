#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The wheels of `make wheel`: they are built twice with the same bytes, need the C library alone, and are installed and run where their
# users are: in Debian 11 by its own pip; in Debian's Python for arm64, by an emulator; the static program for musl and arm64 in an empty
# root.  musl.sh runs the wheel for musl and x86-64 in a Python for musl.
. "$(dirname "$0")/system.bash"
system=wheels
[ "$(uname -m)" = x86_64 ] || give_up "they are built on x86-64"
version=$(cat "$TOP/VERSION")
venv=$cache/wheels-venv
[ -x "$venv/bin/twine" ] || { python3 -m venv "$venv" && "$venv/bin/pip" install -q -U pip setuptools wheel cffi auditwheel twine; } >pip.log 2>&1 ||
	give_up "auditwheel and twine cannot be installed: $(tail -1 pip.log)"
targets="x86_64-linux-gnu.2.28 aarch64-linux-gnu.2.28 x86_64-linux-musl aarch64-linux-musl"
for target in $targets; do
	"$TOP/tools/cross-libraries" "$cache/cross" "$target" >libraries.log 2>&1 || give_up "$target: $(tail -1 libraries.log)"
done
make_wheels() { # FOLDER
	run env -u MAKEFLAGS -u MAKELEVEL SOURCE_DATE_EPOCH=1700000000 make --no-print-directory -s -j"$(nproc)" -C "$TOP" DEV=1 B="$B" CROSS_LIBRARIES="$cache/cross" \
		PYTHON="$venv/bin/python" WHEEL_TARGETS="$targets" WHEELS="$PWD/$1" wheel
}
make_wheels wheels
exits "make wheel" 0
[ $code = 0 ] || { diag "$(grep -m5 -E 'error|warning|undefined' "$tmp/err")"; tap_done; }
make_wheels again
is "a second run writes the same bytes" "$(diff -rq wheels again)" ""
run "$venv/bin/twine" check --strict wheels/*.whl wheels/*.tar.gz
exits "twine has no complaints" 0
for system in manylinux_2_28_x86_64 manylinux_2_28_aarch64 musllinux_1_2_x86_64 musllinux_1_2_aarch64; do
	wheel=wheels/pagededup-$version-cp39-abi3-$system.whl
	has "$system: auditwheel agrees" <("$venv/bin/auditwheel" show "$wheel" 2>&1 | tr '\n' ' ') "\"?$system\"?"
	rm -rf "$system" && python3 -m zipfile -e "$wheel" "$system" 2>/dev/null
	for file in _native.abi3.so _bin/pagededup; do
		is "$system: $file needs the C library alone" "$(readelf -dW "$system/pagededup/$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(lib(c|m|pthread|dl|rt)\.so\.6|lib(pthread|dl|rt|c|m)\.so(\.[0-9])?|ld-linux.*|libc\.musl.*)$')" ""
	done
	is "$system: it has the licences" "$(cd "$system" && ls pagededup-*.dist-info/licenses 2>/dev/null | tr '\n' ' ')" "LIBRARIES LICENSE THIRD-PARTY "
	diag "$system: $(stat -c %s "$wheel") bytes"
	chmod +x "$system/pagededup/_bin/pagededup"
done
cp "$demo" demo.warc.gz
"$P" fp -q demo.warc.gz >here.fp
"$P" selftest --long >selftest
grep 'golden\|probe\|dictionary\|fingerprint' selftest >here.selftest
same_results() { # NAME COMMAND…: of the program in a root folder that has demo.warc.gz
	run "${@:2}" selftest --long
	exits "$1: selftest --long" 0
	same "$1: the same fingerprints as here" <(grep 'golden\|probe\|dictionary\|fingerprint' "$tmp/out") here.selftest
	"${@:2}" fp -q demo.warc.gz >there.fp
	same "$1: the same rows of the demo" there.fp here.fp
}
# pip of this machine fetches the packages that the wheel needs, for another machine.
fetch() { # FOLDER PLATFORM PYTHON
	[ -d "$cache/packages/$2-$3" ] || { "$venv/bin/pip" download -q --no-cache-dir -d "$cache/packages/$2-$3.new" --only-binary=:all: --platform "$2" --platform "${2/2_28/2_17}" --platform "${2/_2_28/2014}" \
		--implementation cp --python-version "$3" 'cffi>=1.15' numpy pyarrow && mv "$cache/packages/$2-$3.new" "$cache/packages/$2-$3"; } >fetch.log 2>&1 &&
		mkdir -p "$1" && cp "$cache/packages/$2-$3"/*.whl "$1"
}
install() { # NAME COMMAND…: pip in a root; with its CPU seconds
	local TIMEFORMAT="%R seconds, %U + %S of CPU"
	{ time run "${@:2}" -m pip install --no-index --find-links /packages pagededup; } 2>seconds
	exits "$1: pip installs the wheel" 0
	diag "$1: installing it and what it needs took $(tail -1 seconds)"
}

# --- Debian 11: glibc 2.31, Python 3.9 ---
[ "$(id -u)" = 0 ] || { skip "the wheels in other systems" "chroot needs root"; tap_done; }
old=$cache/wheels-bullseye
in_old() { # COMMAND…: with /dev/shm, which Python's locks need
	unshare --mount bash -c 'mount -t proc proc "$0/proc" && mkdir -p "$0/dev/shm" && mount -t tmpfs tmpfs "$0/dev/shm" && exec chroot "$0" "$@"' "$old" "$@"
}
if [ ! -e "$old/ready" ]; then
	rm -rf --one-file-system "$old" && mkdir -p "$cache"
	debootstrap --variant=minbase --include=python3,python3-pip bullseye "$old" >debootstrap.log 2>&1 && touch "$old/ready"
fi
if [ ! -e "$old/ready" ]; then skip "Debian 11" "debootstrap: $(grep -v '^I:' debootstrap.log 2>/dev/null | tail -1)"
elif ! fetch "$old/packages" manylinux_2_28_x86_64 3.9; then skip "Debian 11" "its packages: $(tail -1 fetch.log)"
else
	cp "wheels/pagededup-$version-cp39-abi3-manylinux_2_28_x86_64.whl" "$old/packages"
	in_old pip uninstall -q -y pagededup cffi numpy pyarrow >/dev/null 2>&1
	install "Debian 11" in_old python3
	cp "$demo" "$old/demo.warc.gz"
	same_results "Debian 11" in_old pagededup
	is "Debian 11: matching uses the same vectors as here" "$(in_old pagededup selftest | grep 'used here')" "$(grep 'used here' selftest)"
	cp "$TOP/python/tests/test_pagededup.py" "$old/"
	run in_old env -C / PAGEDEDUP=/usr/local/bin/pagededup timeout 900 python3 /test_pagededup.py /demo.warc.gz
	cp "$tmp/out" python.tap
	relay "Debian 11" python.tap
fi

# --- arm64 ---
qemu=$(command -v qemu-aarch64-static) || { skip "arm64" "qemu-user-static is not installed"; tap_done; }
mkdir -p empty/tmp && cp "$qemu" empty/qemu && cp demo.warc.gz empty
cp musllinux_1_2_aarch64/pagededup/_bin/pagededup empty
same_results "musl on arm64" chroot empty /qemu /pagededup
# Only the first step of debootstrap: the packages are unpacked and not configured, since the emulator cannot start other programs.
arm=$cache/wheels-arm64
if [ ! -e "$arm/ready" ]; then
	rm -rf --one-file-system "$arm" && mkdir -p "$cache"
	debootstrap --arch=arm64 --foreign --variant=minbase --include=python3,python3-pip bookworm "$arm" >debootstrap.log 2>&1 &&
		for deb in "$arm"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$deb" "$arm"; done && touch "$arm/ready"
fi
if [ ! -e "$arm/ready" ]; then skip "Debian 12 on arm64" "debootstrap: $(grep -v '^I:' debootstrap.log 2>/dev/null | tail -1)"
elif ! fetch "$arm/packages" manylinux_2_28_aarch64 3.11; then skip "Debian 12 on arm64" "its packages: $(tail -1 fetch.log)"
else
	cp "wheels/pagededup-$version-cp39-abi3-manylinux_2_28_aarch64.whl" "$arm/packages"
	cp "$qemu" "$arm/qemu"
	cp "$demo" "$arm/demo.warc.gz"
	cp -r manylinux_2_28_aarch64/pagededup/_bin/pagededup "$arm/pagededup"
	same_results "Debian 12 on arm64" chroot "$arm" /qemu /pagededup
	has "Debian 12 on arm64: matching uses its vectors" <(chroot "$arm" /qemu /pagededup selftest) '^matching, neon +ok: used here'
	rm -rf "$arm/usr/local/lib/python3.11"
	PIP_BREAK_SYSTEM_PACKAGES=1 install "Debian 12 on arm64" chroot "$arm" /qemu /usr/bin/python3
	is "Debian 12 on arm64: the package signs a page as here" \
		"$(chroot "$arm" /qemu /usr/bin/python3 -c 'import pagededup; print(pagededup.Signer().read_table("/demo.warc.gz").num_rows, pagededup.__version__)' 2>&1 | tail -1)" "$(grep -vc '^#' here.fp) $version"
fi
tap_done
