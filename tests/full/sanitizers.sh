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
# lighttpd; most cases of sweep; and the dealers with faults of exam.
# Left out, because they are about times, load, kills, full disks or many descriptors, all of which the sanitizers
# change, and reach no C code of their own: copies, descriptors, fairness, growth, libfcgi, metrics, server-errors,
# state, together; and all of tests/crash and tests/campaign.
# Left out, because the leak checker ends a program that nothing may look into: setgid.
SUITES="export daemon ctl ctl-bets doctor exam:passes exam:reports audit backup sweep:dry-run sweep:result
wallet:lighttpd platform:lighttpd peer feed roles recon reconcile reports console jobs refused seal explain replay desk"

if step "builds with clang and sanitizers" sanitized check-programs; then
	tr ' ' '\n' <<<"$SUITES" >"$work/e2e"
	# One more than there are processors, because each waits for half of its time.
	at_once=$(($(nproc) + 1))
	steps_each "%s with sanitizers" suite_sanitized <"$work/e2e"
fi
steps_end
