<?php
/*
 * calls.php JSON: makes the calls [[METHOD, WORD...], ...] with the PHP client. Prints for each its outcome and
 * its waits, as a line of JSON.
 */
require 'vendor/autoload.php';

$waits = [];
$factory = new GuzzleHttp\Psr7\HttpFactory();
$wallet = new Creditbridge\Client(new GuzzleHttp\Client(['timeout' => 10, 'allow_redirects' => false]), $factory,
	$factory, getenv('CREDITBRIDGE_URL'), getenv('CREDITBRIDGE_CASINO'),
	trim(file_get_contents(getenv('CREDITBRIDGE_KEY_FILE'))),
	wait: function (int $ms) use (&$waits) { $waits[] = $ms / 1000; });
$calls = ['in' => $wallet->transferIn(...), 'out' => $wallet->transferOut(...),
	'balance' => $wallet->balance(...), 'stat' => fn ($user) => $wallet->stat($user, true),
	'result' => $wallet->resultInquire(...), 'out_all' => $wallet->transferOutAll(...),
	'inquire' => $wallet->transferInquire(...), 'feed' => $wallet->feed(...),
	'history' => $wallet->history(...), 'callbacks' => $wallet->callbacks(...), 'resend' => $wallet->resend(...)];
foreach (json_decode($argv[1], true) as $words) {
	$method = array_shift($words);
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
