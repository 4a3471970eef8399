# shellcheck shell=bash
# shellcheck disable=SC2154 # lib.sh sets src and work
# package_build.sh - sourced by package.sh and reproducible.sh, after lib.sh: builds Debian's package as README says.

# The sources as they are distributed, with nothing of this build.
export_sources() {
	make -C "$CB_BUILDDIR" --no-print-directory -s distdir="$work/export" \
		am__remove_distdir=: distdir
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
