# shellcheck shell=bash
# shellcheck disable=SC2154 # lib.sh sets src and work
# package_build.sh - sourced by package.sh, reproducible.sh and distcheck.sh, after lib.sh: builds Debian's package as README
# says, and looks whether the archive has every file.

# The sources as they are distributed, with nothing of this build: the files of `make distdir`, which starts a process
# for each of them. The suite distcheck runs that one.
export_sources() {
	mkdir "$work/export" || return 1
	# shellcheck disable=SC2016 # of make
	make -C "$CB_BUILDDIR" --no-print-directory -s to="$work/export" --eval='export: $(DISTFILES); \
		cd $(srcdir) && cp -pR --parents $(sort $(patsubst $(srcdir)/%,%,$(DISTFILES))) "$(to)"' export || return 1
	chmod -R u+rwX,go+rX "$work/export"
}

# package_build DIR LOG COMMAND: in another place than the sources.
package_build() {
	mkdir -p "$(dirname "$1")"
	cp -a "$work/export" "$1"
	chmod -R u+w "$1"
	(cd "$1" && sh -euc "$3") >"$2" 2>&1 && return
	cat "$2"
	return 1
}

# README's command, typed as it stands there.
build_command=$(grep -o 'dpkg-buildpackage [^&]*' "$src/README")

build_one() {
	(umask 022 && TZ=UTC LC_ALL=C.UTF-8 package_build "$work/one/creditbridge" "$work/one.log" \
		"$build_command")
}

# What a release does not need.
LEFT_OUT='^(\.ci/.*|\.clang-format|\.gitignore)$'

# archive_complete FILE: FILE lists, sorted, what the archive has. Names what git has besides.
archive_complete() {
	local missing
	missing=$(git -C "$src" ls-files | grep -vE "$LEFT_OUT" | sort | comm -23 - "$1") || return 1
	[ -z "$missing" ] || printf 'FAIL: not in the archive: %s\n' "$missing"
	[ -z "$missing" ]
}

# step_archive_complete COMMAND: a step, where git says what there is.
step_archive_complete() {
	if git -C "$src" rev-parse --git-dir >/dev/null 2>&1; then
		step "every file is in the archive" "$1" || true
	else
		step_skip "every file is in the archive" "the sources are not of git"
	fi
}
