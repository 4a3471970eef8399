# shellcheck shell=bash
# analyzed.sh - sourced by clang-tidy.sh and fanalyzer.sh: the folders of src that the analyzers of clang and gcc look at.
# They are the lower ones that read bytes of others or keep memory by hand.
analyzed=(base domain wire state link metrics callback fcgi store ledger/rows ledger/outbox ledger/refused)

# Returns success if the file @1, such as src/base/pack.c, is in one of them.
is_analyzed() {
	local folder
	for folder in "${analyzed[@]}"; do
		[[ $1 == src/$folder/* ]] && return
	done
	return 1
}
