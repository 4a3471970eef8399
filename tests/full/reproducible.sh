#!/usr/bin/env bash
# Debian's package builds to the same bytes in another place, time zone and language, for another user with another umask.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$src/tests/full/package_build.sh"

build_two() {
	(umask 027 && TZ=Asia/Bangkok LC_ALL=C LANG=C HOME=/nonexistent USER=builder \
		package_build "$work/two-$$/deeper/tree" "$work/two.log" "$build_command")
}

build_both() {
	build_two >"$work/two.out" 2>&1 &
	build_one || { wait; return 1; }
	wait $! || { cat "$work/two.out"; return 1; }
}

equal() {
	local file other failed=0
	for file in "$work"/one/*.deb; do
		other=$work/two-$$/deeper/${file##*/}
		cmp "$file" "$other" && continue
		failed=1
		diff <(dpkg-deb -c "$file") <(dpkg-deb -c "$other") || true
	done
	return "$failed"
}

if step "the sources are exported" export_sources && step "README's dpkg-buildpackage, twice" build_both; then
	step "both are equal, byte for byte" equal || true
fi
steps_end
