#!/usr/bin/env bash
# The real programs under AddressSanitizer and UndefinedBehaviorSanitizer: the suites that reach C code which no
# other of them reaches. The unit suites run so in clang.sh.
# shellcheck disable=SC2034 # lib.sh reads it
addresses=fixed
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# SUITE or SUITE:CASE, the longest first.
#
# Left out, because they make the same calls and commands as those below, by other clients, through other servers or
# from other texts, and reach almost no line of their own: amounts, check-changes, check-e2e, console-doctor, dealers,
# examples, game-guide, guide, logs, owed, quickstart, sums, terminal; wallet and platform under the servers other than
# lighttpd; most cases of sweep and export; and the dealers with faults of exam.
# Left out, because they are about times, load, kills, full disks or many descriptors, all of which the sanitizers
# change, and reach no C code of their own: copies, descriptors, fairness, growth, libfcgi, metrics, server-errors,
# state, together; and all of tests/crash and tests/campaign.
# Left out, because the leak checker ends a program that nothing may look into: setgid.
# A program that looks for leaks does so at its end, which takes as long as most commands. The suites that start
# creditbridgectl for each command do not look: it ends after one command. The other suites look in the programs that run on.
COMMANDS="daemon ctl ctl-bets doctor exam:passes exam:reports audit backup export:older export:bad export:offline recon
reconcile roles"
SUITES="$COMMANDS sweep:dry-run sweep:result wallet:lighttpd platform:lighttpd peer feed reports console jobs refused seal
explain replay desk"

suite_looked_at() {
	local -x leaks=1
	[[ " ${COMMANDS//$'\n'/ } " != *" $1 "* ]] || leaks=0
	suite_sanitized "$1"
}

if step "builds with clang and sanitizers" sanitized check-programs; then
	tr ' ' '\n' <<<"$SUITES" >"$work/e2e"
	# One more than there are processors, because each waits for half of its time.
	at_once=$(($(nproc) + 1))
	steps_each "%s with sanitizers" suite_looked_at <"$work/e2e"
fi
steps_end
