#!/usr/bin/env bash
# sanitizers.sh [--whole]: the real programs under AddressSanitizer and UndefinedBehaviorSanitizer: the suites that
# reach C code which no other of them reaches. With --whole, audit runs too, and each of these suites as a whole. The
# unit suites run so in clang.sh.
# shellcheck disable=SC2034 # lib.sh reads it
addresses=fixed
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# SUITE or SUITE:CASE, the longest first.
#
# Left out, because they make the same calls and commands as those below, by other clients, through other servers or
# from other texts, and reach almost no line of their own: amounts, audit, check-changes, check-e2e, console-doctor,
# dealers, examples, game-guide, guide, logs, owed, quickstart, sums, terminal; wallet and platform under the servers
# other than lighttpd; most cases of sweep, export, backup, recon, reconcile, roles and explain; and the dealers with
# faults of exam. The suite store-backup (clang.sh) has copies and restores that are killed or meet a full disk.
# Left out, because they are about times, load, kills, full disks or many descriptors, all of which the sanitizers
# change, and reach no C code of their own: copies, descriptors, fairness, growth, libfcgi, metrics, server-errors,
# state, together; and all of tests/crash and tests/campaign.
# Left out, because the leak checker ends a program that nothing may look into: setgid.
# A program that looks for leaks does so at its end, which takes as long as most commands. The suites that start
# creditbridgectl for each command do not look: it ends after one command. The other suites look in the programs that run on.
COMMANDS="daemon ctl ctl-bets doctor exam:passes exam:reports backup:rolled backup:refusals backup:forged
export:older export:bad export:offline recon:seamless recon:bad recon:differences reconcile:corrections
reconcile:transfers: reconcile:bets: roles:each_command"
SUITES="$COMMANDS sweep:dry-run sweep:result wallet:lighttpd platform:lighttpd peer feed reports console jobs refused seal
explain:lighttpd explain:several explain:texts replay desk"
if [ "${1:-}" = --whole ]; then
	COMMANDS=$(tr ' ' '\n' <<<"$COMMANDS audit" | cut -d: -f1 | tr '\n' ' ')
	SUITES=$COMMANDS$(tr ' ' '\n' <<<"$SUITES" | cut -d: -f1)
fi

suite_looked_at() {
	local -x leaks=1
	[[ " ${COMMANDS//$'\n'/ } " != *" $1 "* ]] || leaks=0
	suite_sanitized "$1"
}

if step "builds with clang and sanitizers" sanitized check-programs; then
	tr ' ' '\n' <<<"$SUITES" | awk 'NF && !seen[$0]++' >"$work/e2e"
	# One more than there are processors, because each waits for half of its time.
	at_once=$(($(nproc) + 1))
	steps_each "%s with sanitizers" suite_looked_at <"$work/e2e"
fi
steps_end
