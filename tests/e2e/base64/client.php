<?php
/* A dealer's client, written from the public documentation of 2024; see client.sh. */

function sign(string $body): string
{
	return base64_encode(hash_hmac('sha256', $body, getenv('KEY'), true));
}

function call(string $method, string $path, array $values): void
{
	$body = json_encode($values);
	echo file_get_contents(getenv('URL') . $path, false, stream_context_create(['http' => [
		'method' => $method,
		'header' => [
			'Content-Type: application/json',
			'x-casino-id: ' . getenv('CASINO'),
			'x-casino-signature: ' . sign($body),
		],
		'content' => $body,
		'ignore_errors' => true,
		'timeout' => 20,
	]]));
}

$command = $argv[1];
$now = (int)(microtime(true) * 1000);
switch ($command) {
case 'in':
case 'out':
	call('POST', "/wallet-service/credit/transfer-$command", [
		'amount' => (float)$argv[3],
		'request_transaction_id' => $argv[4],
		'user_id' => $argv[2],
	]);
	break;
case 'balance':
	call('GET', '/user-service/user/3rdparty-get-balance',
		['user_id' => $argv[2], 'request_timestamp' => $now]);
	break;
case 'stat':
	call('GET', '/user-service/user/stat', [
		'user_id' => $argv[2],
		'include_data' => ['bet_summary'],
		'request_timestamp' => $now,
	]);
	break;
case 'result':
	call('GET', '/game-service/bet_game/result-inquire',
		['user_id' => $argv[2], 'game_id' => $argv[3]]);
	break;
case 'verify':
	exit(hash_equals(sign(file_get_contents($argv[2])), $argv[3]) ? 0 : 1);
}
