<?php
/*
 * calls.php JSON: makes the calls [[METHOD, WORD...], ...] with the PHP client. Prints for each its outcome and
 * its waits, as a line of JSON. ["at", URL, KEY_FILE] is no call: those after it go there, with that key.
 */
require 'vendor/autoload.php';

$waits = [];
$factory = new GuzzleHttp\Psr7\HttpFactory();
$http = new GuzzleHttp\Client(['timeout' => 10, 'allow_redirects' => false]);
$client = function (string $url, string $key_file) use ($http, $factory, &$waits) {
	$wallet = new Creditbridge\Client($http, $factory, $factory, $url, getenv('CREDITBRIDGE_CASINO'),
		trim(file_get_contents($key_file)),
		wait: function (int $ms) use (&$waits) { $waits[] = $ms / 1000; });
	return ['in' => $wallet->transferIn(...), 'out' => $wallet->transferOut(...),
		'balance' => $wallet->balance(...), 'stat' => fn ($user) => $wallet->stat($user, true),
		'result' => $wallet->resultInquire(...), 'out_all' => $wallet->transferOutAll(...),
		'inquire' => $wallet->transferInquire(...), 'feed' => $wallet->feed(...),
		'history' => $wallet->history(...), 'callbacks' => $wallet->callbacks(...),
		'resend' => $wallet->resend(...)];
};
$calls = $client(getenv('CREDITBRIDGE_URL'), getenv('CREDITBRIDGE_KEY_FILE'));
foreach (json_decode($argv[1], true) as $words) {
	$method = array_shift($words);
	if ($method === 'at') {
		$calls = $client(...$words);
		continue;
	}
	try {
		$outcome = ['answer' => $calls[$method](...$words)];
	} catch (Throwable $error) {
		$outcome = ['error' => preg_replace('/^.*\\\\|(Exception|Error)$/', '', $error::class),
			'id' => $error->id ?? null, 'conclusive' => $error->conclusive ?? null,
			'attempts' => $error->attempts ?? null];
	}
	echo json_encode($outcome + ['waits' => $waits]), "\n";
	$waits = [];
}
