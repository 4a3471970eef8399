#!/bin/sh
# container_image.sh: in a bare Debian with the package and the Containerfile in /srv: the steps of the
# Containerfile are taken as an image's builder takes them. Then its entry point runs as in the container:
# without a state, with init, stopped and started again. Prints what it does; exits 0 if all is well.
# No builder of images runs here, because its base would come from a registry: this machine is that base.
# Begins with bare.sh.
# shellcheck disable=SC2154 # that gives deb
mkdir /root/image && cd /root/image || exit

# instructions: the Containerfile without comments, one instruction a line.
instructions() {
	sed -e '/^#/d' -e ':a' -e '/\\$/{N;s/\\\n *//;ta' -e '}' -e '/^$/d' /srv/Containerfile
}

echo "# the instructions"
# shellcheck disable=SC2016 # of the Containerfile
unknown=$(instructions | grep -Ev \
	'^(ARG BASE=|FROM \$BASE$|COPY creditbridge_\*\.deb /tmp/$|RUN |VOLUME |EXPOSE |HEALTHCHECK |ENTRYPOINT )' || true)
[ -z "$unknown" ] || fail "instructions that this test does not take: $unknown"
# As Debian's images for containers: no documents.
printf 'path-exclude /usr/share/doc/*\npath-exclude /usr/share/man/*\n' >/etc/dpkg/dpkg.cfg.d/no-documents
cp "$deb" /tmp/
instructions | sed -n 's/^RUN //p' >run.steps
[ "$(wc -l <run.steps)" = 3 ] || fail "RUN: $(cat run.steps)"
expect "Apache, which this machine has" " apache2 " "$(cat run.steps)"
# There is no network; what apt would fetch is in its cache.
sed 's/apt-get update && //; s|/var/lib/apt/lists/\*|/nonexistent|' run.steps >run.sh
typed run
[ -z "$(ls -A /var/lib/creditbridge)" ] || fail "the image has a state: $(ls -A /var/lib/creditbridge)"
[ -e /etc/apache2/mods-enabled/fcgid.load ] || fail "mod_fcgid is not enabled"
entry=$(instructions | sed -n 's/^ENTRYPOINT //p' | tr -d '[]"')
health=$(instructions | sed -n 's/^HEALTHCHECK .* CMD //p' | tr -d '[],"')
[ -x "$entry" ] || fail "there is no $entry"

echo "# an empty volume is not used"
code=0
"$entry" >empty.out 2>&1 || code=$?
[ "$code" = 78 ] || fail "exit $code: $(cat empty.out)"
expect "the entry point" "Is the volume mounted?" "$(cat empty.out)"

# begin: starts the container and waits until it is healthy.
begin() {
	"$entry" >container.out 2>&1 &
	container=$!
	left=900
	until sh -c "$health" 2>/dev/null; do
		left=$((left - 1))
		if [ "$left" = 0 ] || ! kill -0 "$container" 2>/dev/null; then
			fail "the container is not healthy: $(cat container.out)"
		fi
		sleep 0.1
	done
}

# end: as `podman stop`.
end() {
	code=0
	kill -TERM "$container"
	wait "$container" || code=$?
	[ "$code" = 0 ] || fail "exit $code after TERM: $(cat container.out)"
	left=$(readlink /proc/[0-9]*/exe | grep -E 'creditbridge|apache2' || true)
	[ -z "$left" ] || fail "these run on: $left"
}

echo "# init, a dealer, a transfer"
"$entry" init
begin
creditbridgectl dealer add demo --currency thb --mode transfer >/dev/null
creditbridgectl player add demo alice
expect "transfer in" '"current_balance":100.5,' \
	"$(creditbridgectl request demo transfer-in --user alice --amount 100.50)"
curl -fsS http://127.0.0.1:8091/metrics | grep '^creditbridge_ledger_up 1' >/dev/null || fail "no metrics"
! "$entry" init 2>/dev/null || fail "a second init"
end

echo "# stopped and started again"
begin
expect "the balance" '"balance":100.5' "$(creditbridgectl request demo balance --user alice)"
creditbridgectl check >/dev/null

echo "# it ends if the ledger ends"
creditbridgectl --json status | sed -n 's/.*"parent_pid":\([0-9]*\).*/\1/p' | xargs kill
code=0
wait "$container" || code=$?
[ "$code" = 1 ] || fail "exit $code after the ledger's end: $(cat container.out)"
echo "ok"
