<?php
/* Checks against signature-vectors.json, without a test framework: prints TAP. */
declare(strict_types=1);

use Creditbridge\Callback;
use Creditbridge\CallbackException;
use Creditbridge\Money;
use Creditbridge\Rules;
use Creditbridge\Signature;
use Creditbridge\SignatureException;
use Creditbridge\Verified;

spl_autoload_register(function (string $class) {
	require __DIR__ . '/../src/' . substr($class, strlen('Creditbridge\\')) . '.php';
});
$VECTORS = json_decode(file_get_contents(getenv('CREDITBRIDGE_VECTORS')
	?: __DIR__ . '/../../../doc/signature-vectors.json'), true);
$WEBHOOK = $VECTORS['webhook'][0];
$NOW = $WEBHOOK['timestamp'];

function same(mixed $wanted, mixed $got, string $what): void
{
	if ($wanted !== $got)
		throw new Exception("$what: expected " . var_export($wanted, true) . ', got ' . var_export($got, true));
}

function throws(string $class, string $words, callable $work): void
{
	try {
		$work();
	} catch (Throwable $error) {
		same($class, $error::class, $error->getMessage());
		same(true, str_contains($error->getMessage(), $words), $error->getMessage());
		return;
	}
	throw new Exception("$class was not thrown: $words");
}

function headers_of(array $row): array
{
	return ['x-casino-signature' => $row['x-casino-signature'], 'Webhook-Id' => [$row['id']],
		'webhook-timestamp' => (string)$row['timestamp'], 'webhook-signature' => $row['webhook-signature']];
}

$cases = [
	'the signature vectors' => function () use ($VECTORS) {
		same(true, count($VECTORS['vectors']) > 15 && count($VECTORS['other_schemes']) === 5, 'vectors');
		foreach ($VECTORS['vectors'] as $row) {
			$body = str_repeat(base64_decode($row['body_base64']), $row['times']);
			same($row['signature'], Signature::sign($row['key'], $body), $row['name']);
			foreach ([$row['signature'], strtoupper($row['signature']),
				base64_encode(hex2bin($row['signature']))] as $text)
				Signature::verify($body, ['X-Casino-Signature' => $text], [$row['key']],
					requireWebhook: false);
		}
		foreach ($VECTORS['other_schemes'] as $row) {
			same($row['signature'], Signature::sign($row['key'], $row['body'], $row['algorithm'],
				$row['encoding']), $row['algorithm']);
			Signature::verify($row['body'], ['x-casino-signature' => $row['signature']], [$row['key']],
				$row['algorithm'], requireWebhook: false);
		}
	},
	'the vectors of refused spellings' => function () use ($VECTORS) {
		foreach ($VECTORS['refused'] ?? [] as $row)
			throws(SignatureException::class, '', fn () => Signature::verify($row['body'],
				['x-casino-signature' => $row['signature']], [$row['key']], $row['algorithm'],
				requireWebhook: false));
	},
	'the vectors of webhooks, with each key' => function () use ($VECTORS, $NOW) {
		foreach ($VECTORS['webhook'] as $row) {
			foreach ([$row['keys'], array_reverse($row['keys']), [$row['keys'][0]]] as $keys) {
				$verified = Signature::verify($row['body'], headers_of($row), $keys, now: $NOW);
				same(['betting', $row['id'], $row['timestamp']], [$verified->kind,
					$verified->webhookId, $verified->webhookTimestamp], 'headers');
			}
		}
	},
	'what is refused' => function () use ($WEBHOOK, $NOW) {
		$refused = fn (string $reason, array $changes = [], ?string $body = null, ?array $keys = null,
			?int $now = null) => throws(SignatureException::class, $reason,
				fn () => Signature::verify($body ?? $WEBHOOK['body'], array_filter($changes +
					array_change_key_case(headers_of($WEBHOOK)), fn ($value) => $value !== null),
					$keys ?? $WEBHOOK['keys'], now: $now ?? $NOW));
		foreach ([$NOW + 300, $NOW - 300] as $now)
			Signature::verify($WEBHOOK['body'], headers_of($WEBHOOK), $WEBHOOK['keys'], now: $now);
		$good = $WEBHOOK['x-casino-signature'];
		$refused('300 s off', now: $NOW + 301);
		$refused('300 s off', now: $NOW - 301);
		$refused('other bytes', body: $WEBHOOK['body'] . "\n");
		$refused('another key', keys: [str_repeat('f', 64)]);
		$refused('missing', ['x-casino-signature' => null]);
		$refused('2 times', ['x-casino-signature' => [$good, $good]]);
		$base64 = base64_encode(hex2bin($good));
		/* Other spellings of base64: without padding, with a bit that no encoder sets, with a line break. */
		foreach (['', substr($good, 0, 62), "$good, x", substr($base64, 0, -1), "$base64\n", "$good\n",
			substr($base64, 0, -2) . chr(ord($base64[-2]) + 1) . '='] as $text)
			$refused('x-casino-signature', ['x-casino-signature' => $text]);
		foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name)
			$refused('a webhook header', [$name => null]);
		$refused('webhook-signature', ['webhook-id' => 'betting-18']);
		$refused('webhook-signature', ['webhook-timestamp' => (string)($NOW + 1)]);
		$refused('webhook-signature', ['webhook-signature' => 'v2,' .
			substr($WEBHOOK['webhook-signature'], 3)]);
		$refused('webhook-signature', ['webhook-signature' => substr($WEBHOOK['webhook-signature'], 0, -1)]);
		$refused('malformed', ['webhook-timestamp' => '']);
		throws(InvalidArgumentException::class, 'empty', fn () => Signature::sign('', ''));
	},
	'money' => function () use ($WEBHOOK) {
		foreach ([['0', 0, '0'], ['12.50', 125000, '12.5'], ['0.0001', 1, '0.0001'], ['1e2', 1000000, '100'],
			['99999999999.9999', 999999999999999, '99999999999.9999'], ['-3.25', -32500, '-3.25'],
			['1.0000000', 10000, '1'], ['120e-1', 120000, '12']] as [$text, $count, $canonical])
			same([$count, $canonical], [Money::units($text), Money::text($count)], $text);
		foreach (['', '1.', '.5', '1,5', '0.00001', '100000000000', '1e99', ' 1', '0x1', 'NaN', "1\n"] as $text)
			throws(RangeException::class, '', fn () => Money::units($text));
		throws(TypeError::class, '', fn () => Money::units(0.3));
		$odd = '{"bet_amount":0.30,"user_bet":{"bet_amount":1.10,"7":7},"bets":[{"bet_amount":1e1}],' .
			'"remark":"5 \\" 6.50","balance":null,"transaction_id":9007199254740991}';
		same(['bet_amount' => '0.3', 'user_bet' => ['bet_amount' => 1.1, 7 => 7],
			'bets' => [['bet_amount' => '10']], 'remark' => '5 " 6.50', 'balance' => null,
			'transaction_id' => 9007199254740991], Money::decode($odd), 'decode');
		foreach (['[1]', '{', ''] as $text)
			throws(JsonException::class, '', fn () => Money::decode($text));
		throws(CallbackException::class, 'bet_amount', fn () => Callback::parse('betting',
			str_replace('"bet_amount":10', '"bet_amount":"10a"', $WEBHOOK['body']),
			new Verified(null, null, null)));
	},
	'a body of another callback' => function () use ($WEBHOOK) {
		$bare = new Verified(null, null, null);
		same('10', Callback::parse('betting', $WEBHOOK['body'], $bare)->body['bet_amount'], 'a bet');
		foreach (['betting-refund' => 'of another callback', 'betting-result' => 'result'] as $kind => $words)
			throws(CallbackException::class, $words,
				fn () => Callback::parse($kind, $WEBHOOK['body'], $bare));
		/* The same by webhook-id, which names the callback. */
		throws(CallbackException::class, 'webhook-id', fn () => Callback::parse('balance-inquire',
			$WEBHOOK['body'], new Verified('betting', 'betting-17', 1)));
	},
	'a decrease' => function () {
		$bare = new Verified(null, null, null);
		$text = '{"user_id":"alice","player_id":"p","game_id":"g","transaction_id":19,' .
			'"correction_amount":-21.50,"previous_payout_amount":21.5,"payout_amount":0,"revision":1,' .
			'"remark":"","timestamp":1}';
		$callback = Callback::parse('betting-correction', $text, $bare);
		same('-21.5', $callback->body['correction_amount'], 'the amount');
		foreach ([['-21.50', '21.5'], ['"revision":1', '"result":"win"'],
			['"remark"', '"bet_amount":1,"remark"']] as [$from, $to])
			throws(CallbackException::class, '', fn () => Callback::parse('betting-correction',
				str_replace($from, $to, $text), $bare));
		$made = Rules::decide($callback, null, 40000, 'thb');
		same([200, '{"user_id":"alice","balance":0,"currency":"thb","shortfall":17.5}', 0],
			[$made['status'], $made['json'], $made['balance']], 'what is there is taken');
		/* A repeated call is answered the same shortfall, and moves nothing, whatever the player has by now. */
		$again = Rules::decide($callback, $made['row'], 900000, 'thb');
		same([17.5, null, null], [json_decode($again['json'])->shortfall, $again['row'], $again['balance']],
			'a repeat');
		$enough = Rules::decide($callback, null, 300000, 'thb');
		same([0, 85000], [json_decode($enough['json'])->shortfall, $enough['balance']], 'enough');
		same(409, Rules::decide($callback, ['amount' => 1] + $made['row'], 0, 'thb')['status'], 'another amount');
		same(409, Rules::decide($callback, ['state' => 'bet'] + $made['row'], 0, 'thb')['status'], 'a bet');
		same(404, Rules::decide($callback, null, null, 'thb')['status'], 'no player');
	},
];
$failed = $number = 0;
foreach ($cases as $name => $case) {
	$number++;
	try {
		$case();
		echo "ok $number - $name\n";
	} catch (Throwable $error) {
		$failed = 1;
		echo "not ok $number - $name\n# {$error->getMessage()} ({$error->getFile()}:{$error->getLine()})\n";
	}
}
echo "1..$number\n";
exit($failed);
