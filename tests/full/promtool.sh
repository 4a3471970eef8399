#!/usr/bin/env bash
# Prometheus' own tool reads our figures. Its package is fetched and unpacked, not installed: it would
# bring a service that starts, for one program.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

fetch() {
	(cd "$work" && apt-get download prometheus && dpkg-deb -x prometheus_*.deb .)
}

program=$(command -v promtool || true)
if [ -z "$program" ]; then
	if ! fetch >"$work/fetch.log" 2>&1; then
		echo "ok 1 - promtool check metrics # SKIP no promtool, and its package cannot be fetched:" \
			"$(tail -n 1 "$work/fetch.log")"
		echo "1..1"
		exit 0
	fi
	program=$work/usr/bin/promtool
fi
step "promtool on the rules and the dashboard" /usr/bin/python3 "$src/tests/lint/alerts.py" \
	--promtool "$program" || true
step "promtool check metrics" /usr/bin/python3 "$src/tests/e2e/test_metrics.py" \
	--promtool "$program" || true
steps_end
