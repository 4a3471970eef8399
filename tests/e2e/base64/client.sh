#!/bin/sh
# A dealer's client, written from the public documentation of 2024: the signature is the base64 of
# HMAC-SHA256 over the raw body, with the text of the key. Needs curl and openssl.
#   client.sh in|out USER AMOUNT REFERENCE | balance USER | stat USER | result USER GAME
#   client.sh verify FILE SIGNATURE
set -eu

sign()
{
	openssl dgst -sha256 -hmac "$KEY" -binary | openssl base64 -A
}

call()
{
	curl --silent --show-error --request "$1" "$URL$2" \
		--header 'Content-Type: application/json' --header "x-casino-id: $CASINO" \
		--header "x-casino-signature: $(printf %s "$3" | sign)" --data-binary "$3"
}

case $1 in
in | out)
	call POST "/wallet-service/credit/transfer-$1" \
		"{ \"user_id\": \"$2\", \"amount\": $3, \"request_transaction_id\": \"$4\" }" ;;
balance)
	call GET /user-service/user/3rdparty-get-balance \
		"{\"user_id\":\"$2\",\"request_timestamp\":$(date +%s)000}" ;;
stat)
	call GET /user-service/user/stat "{\"user_id\":\"$2\",\"include_data\":[\"bet_summary\"],\
\"request_timestamp\":$(date +%s)000}" ;;
result)
	call GET /game-service/bet_game/result-inquire "{\"user_id\":\"$2\",\"game_id\":\"$3\"}" ;;
verify)
	[ "$(sign < "$2")" = "$3" ] ;;
esac
