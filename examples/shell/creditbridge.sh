#!/bin/sh
# A dealer's calls to the wallet: shell, with curl (7.71 or later) and openssl.
#
#     creditbridge.sh balance USER
#     creditbridge.sh in  USER AMOUNT REFERENCE     credit into the platform
#     creditbridge.sh out USER AMOUNT REFERENCE     and out of it
#     creditbridge.sh result USER GAME
#     creditbridge.sh --vectors FILE                check sign() against signature-vectors.json
#
# CREDITBRIDGE_URL, CREDITBRIDGE_CASINO and CREDITBRIDGE_KEY_FILE give the address, the casino id and the file that
# holds the key. Prints the answer. Exit status: 0 done; 1 refused; 2 usage; 75 the outcome is not
# known: the same command with the same REFERENCE, later, returns it and moves nothing twice.
set -eu
umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 75' HUP INT TERM

usage()
{
	echo "usage: creditbridge.sh balance USER | in|out USER AMOUNT REFERENCE |
                       result USER GAME | --vectors FILE" >&2
	exit 2
}

# The HMAC-SHA256 of the file $2 under the key in the file $1, in hex. `openssl dgst -hmac KEY` would
# do the same, and show the key to every user that calls ps. A key as issued, 64 hex characters, is just
# a block of SHA-256: tr makes of its characters what HMAC's inner and outer padding make of them.
sign()
{
	{
		tr -d '\n' < "$1" |
			tr 0123456789abcdef '\006\007\004\005\002\003\000\001\016\017WTURSP'
		cat "$2"
	} | openssl dgst -sha256 -binary > "$work/inner"
	{
		tr -d '\n' < "$1" | tr 0123456789abcdef 'lmnohijkde=>?89:'
		cat "$work/inner"
	} | openssl dgst -sha256 -r | cut -d ' ' -f 1
}

# A JSON string. What would have to be escaped is not taken.
string()
{
	case $1 in
	'' | *[\"\\]* | *[[:cntrl:]]*)
		echo "creditbridge.sh: not an id: $1" >&2
		exit 2 ;;
	esac
	printf '"%s"' "$1"
}

# Sends the body $3 to the path $2. curl repeats the same bytes, and so the same REFERENCE, 4 times,
# after no answer, 429, 500, 502, 503 or 504, and does what Retry-After says.
call()
{
	printf %s "$3" > "$work/body"
	signature=$(sign "$CREDITBRIDGE_KEY_FILE" "$work/body")
	status=$(curl --silent --show-error --request "$1" --max-time 10 --retry 4 \
		--retry-all-errors --retry-max-time 60 --output "$work/answer" --write-out '%{http_code}' \
		--header 'Content-Type: application/json' \
		--header "x-casino-id: $CREDITBRIDGE_CASINO" \
		--header "x-casino-signature: $signature" \
		--data-binary "@$work/body" "${CREDITBRIDGE_URL%/}$2") || status=000
	first=$(head -c 1 "$work/answer" 2>/dev/null || :)
	case $status$first in
	"200{") code=0 ;;
	200* | 000* | 429* | 5*)
		echo "status $status: the outcome is not known: repeat with the same reference" >&2
		code=75 ;;
	*) code=1 ;;
	esac
	if [ "$code" != 75 ]; then
		cat "$work/answer"
		echo
	fi
	exit "$code"
}

# $1 in or out, user, amount, reference.
transfer()
{
	printf '%s\n' "$3" | grep -Eqx '(0|[1-9][0-9]{0,10})(\.[0-9]{1,4})?' || {
		echo "creditbridge.sh: not an amount: $3" >&2
		exit 2
	}
	user=$(string "$2")
	reference=$(string "$4")
	call POST "/wallet-service/credit/transfer-$1" \
		"{\"amount\":$3,\"request_transaction_id\":$reference,\"user_id\":$user}"
}

# Each vector is a line of that file, its members in one order.
vectors()
{
	good=0 all=0
	member='": "\([^"]*\)'
	sed -n "s/^{\"name$member\", \"key$member\", \"body_base64$member\", \"times\": \([0-9]*\), \
\"signature$member\".*/\5 \2 \4 \1|\3/p" "$1" > "$work/rows"
	while read -r signature key times rest; do
		printf %s "$key" > "$work/key"
		printf %s "${rest##*|}" | openssl base64 -d -A > "$work/piece"
		yes "$work/piece" | head -n "$times" | xargs cat > "$work/body"
		all=$((all + 1))
		if [ "$(sign "$work/key" "$work/body")" = "$signature" ]; then
			good=$((good + 1))
		else
			echo "wrong: ${rest%|*}"
		fi
	done < "$work/rows"
	echo "$good of $all vectors"
	[ "$all" -gt 0 ] && [ "$good" = "$all" ]
}

case ${1:-}/$# in
--vectors/2) vectors "$2" ;;
in/4 | out/4) transfer "$@" ;;
balance/2)
	user=$(string "$2")
	call GET /user-service/user/3rdparty-get-balance \
		"{\"user_id\":$user,\"request_timestamp\":$(date +%s)000}" ;;
result/3)
	user=$(string "$2")
	game=$(string "$3")
	call GET /game-service/bet_game/result-inquire "{\"user_id\":$user,\"game_id\":$game}" ;;
*) usage ;;
esac
