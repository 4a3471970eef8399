<?php
/*
 * Both sides of a dealer in one file: PHP 8.0 or later with curl, and pdo_sqlite or pdo_mysql.
 *
 * 1. Called by a web server it receives the callbacks: /balance-inquire, /betting, /betting-result
 *    and /betting-refund below whatever address it has, such as
 *        https://dealer.example/creditbridge.php/betting
 *    which is `creditbridgectl dealer set CASINO --url https://dealer.example/creditbridge.php`.
 *    To try it: PHP_CLI_SERVER_WORKERS=8 php -S 127.0.0.1:9000 creditbridge.php
 *
 * 2. On the command line, or included by a program of yours, it calls the wallet:
 *        php creditbridge.php balance USER
 *        php creditbridge.php in  USER AMOUNT REFERENCE      credit into the platform
 *        php creditbridge.php out USER AMOUNT REFERENCE      and out of it
 *        php creditbridge.php result USER GAME
 *        php creditbridge.php install               makes the tables that the receiver needs
 *        php creditbridge.php player USER AMOUNT    sets what a player has here (seamless wallet)
 *        php creditbridge.php --vectors FILE        checks sign() against signature-vectors.json
 *    Exit status: 0 done; 1 refused; 2 usage; 75 the outcome is not known: the same command with
 *    the same REFERENCE, later, returns it and moves nothing twice.
 *
 * Settings come from the environment (Apache: SetEnv; php-fpm: env[...]). Keep the key and an SQLite
 * file outside of what the web server serves.
 *     CREDITBRIDGE_URL       of the wallet               CREDITBRIDGE_CASINO    your casino id
 *     CREDITBRIDGE_KEY_FILE  the key as issued; while keys are changed, both, one a line: the first
 *                            one signs, either verifies
 *     CREDITBRIDGE_CURRENCY  as the wallet has it, by default thb
 *     CREDITBRIDGE_DSN       by default sqlite:../creditbridge.sqlite, seen from this file;
 *                            for MySQL or MariaDB mysql:host=localhost;dbname=dealer, with
 *                            CREDITBRIDGE_DB_USER and CREDITBRIDGE_DB_PASSWORD
 *
 * Credit is an integer of 1/10000 everywhere, and never a float.
 */
declare(strict_types=1);

namespace creditbridge;

const BODY_MAX = 262144; /* no callback is larger */
const TRIES = 5;
const TIMEOUT_S = 10;
const LOCK_WAIT_S = 2; /* the platform waits for 3 s */

/* Becomes an error body. */
final class Refused extends \Exception
{
	public function __construct(public int $status, public string $id, public string $detail) {}
}

function setting(string $name, ?string $default = null): string
{
	$value = getenv("CREDITBRIDGE_$name");
	return $value !== false ? $value
		: $default ?? throw new \RuntimeException("CREDITBRIDGE_$name is not set");
}

/* --- Signature, of both directions ------------------------------------------------------------ */

function keys(): array
{
	preg_match_all('/\S+/', file_get_contents(setting('KEY_FILE')), $found);
	/* With an empty key everybody could sign. */
	return $found[0] ?: throw new \RuntimeException('the key file is empty');
}

/* Of the raw bytes, with the key's characters as the key: do not decode its hex. */
function sign(string $key, string $body): string
{
	return hash_hmac('sha256', $body, $key);
}

function is_signed(string $signature, string $body): bool
{
	$found = false;
	foreach (keys() as $key)
		$found = hash_equals(sign($key, $body), strtolower($signature)) || $found;
	return $found;
}

/* --- Money ------------------------------------------------------------------------------------ */

/* "12.50" -> 125000. Exact, or refused: what has more than 4 decimals is not rounded. */
function units(string $number): int
{
	if (!preg_match('/^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/D', $number, $part))
		throw new Refused(400, 'invalid_amount', 'the amount is not valid');
	$digits = ltrim($part[1] . ($part[2] ?? ''), '0');
	$short = rtrim($digits, '0');
	$zeros = strlen($digits) - strlen($short) - strlen($part[2] ?? '') + (int)($part[3] ?? 0) + 4;
	if ($short === '')
		return 0;
	if ($zeros < 0 || strlen($short) + $zeros > 15)
		throw new Refused(400, 'invalid_amount', 'the amount is not valid');
	return (int)($short . str_repeat('0', $zeros));
}

/* 125000 -> "12.5" */
function amount_text(int $units): string
{
	$text = sprintf('%d.%04d', intdiv($units, 10000), $units % 10000);
	return rtrim(rtrim($text, '0'), '.');
}

/* --- Receiving: what is asked for ------------------------------------------------------------- */

const KINDS = ['betting' => 0, 'betting-result' => 1, 'betting-refund' => 2, 'balance-inquire' => 3];
const PLAYER = ['user_id' => 'id', 'player_id' => 'id'];
const GAME = PLAYER + ['game_id' => 'id', 'remark' => 'string', 'transaction_id' => 'integer',
	'timestamp' => 'integer', 'bet_amount' => 'amount'];
/* What must be there. Other members are ignored; there may be new ones one day. */
const MEMBERS = [
	'balance-inquire' => PLAYER,
	'betting' => GAME + ['user_bet' => 'object'],
	'betting-result' => GAME + ['result' => 'string', 'payout_amount' => 'amount'],
	'betting-refund' => GAME,
];
/*
 * What must not: by it a body is of another callback. The signature covers the body only, so
 * an attacker that saw a bet could send it to betting-refund.
 */
const FOREIGN = ['balance-inquire' => [], 'betting' => ['result'], 'betting-result' => [],
	'betting-refund' => ['result', 'user_bet']];

function is_of_type(string $type, mixed $value): bool
{
	return match ($type) {
		'id' => is_string($value) && preg_match('/^[^\x00-\x1f\x7f]{1,128}$/D', $value),
		'string' => is_string($value),
		'integer' => is_int($value) && $value >= 0,
		'amount' => is_int($value) || is_float($value),
		'object' => is_array($value),
	};
}

/* The members of a body that count; amounts in units. */
function read_call(string $kind, string $raw): array
{
	$body = json_decode($raw, true);
	if (!is_array($body) || ltrim($raw, " \t\r\n")[0] !== '{')
		throw new Refused(400, 'bad_request', 'the body is not a JSON object');
	/*
	 * json_decode() makes floats of amounts. So it is done again with the numbers, outside of
	 * strings, put in quotes: that gives their digits. $body has what was a number.
	 */
	$texts = json_decode(preg_replace('/"(?:[^"\\\\]++|\\\\.)*+"(*SKIP)(*FAIL)|-?\d[\d.eE+-]*/s',
		'"$0"', $raw), true);
	$call = [];
	foreach (MEMBERS[$kind] as $name => $type) {
		if (!is_of_type($type, $body[$name] ?? null))
			throw new Refused(400, 'bad_request', "$name: must be there, as $type");
		$call[$name] = $type === 'amount' ? units($texts[$name]) : $body[$name];
	}
	foreach (FOREIGN[$kind] as $name) {
		if (array_key_exists($name, $body))
			throw new Refused(400, 'bad_request', 'the body is of another callback');
	}
	$call += ['result' => '', 'transaction_id' => 0];
	if ($kind === 'betting-result' && !in_array($call['result'], ['win', 'loss', 'refund'], true))
		throw new Refused(400, 'bad_request', 'result: must be win, loss or refund');
	if ($kind !== 'balance-inquire' && $call['result'] !== 'loss' && $call['transaction_id'] === 0)
		throw new Refused(400, 'bad_request', 'transaction_id: must not be 0');
	$call['amount'] = $call['payout_amount'] ?? $call['bet_amount'] ?? 0;
	return $call;
}

/* --- Receiving: storage ----------------------------------------------------------------------- */

function is_mysql(): bool
{
	return str_starts_with(setting('DSN', ''), 'mysql:');
}

function database(): \PDO
{
	$dsn = setting('DSN', 'sqlite:' . dirname(__DIR__) . '/creditbridge.sqlite');
	$db = new \PDO($dsn, setting('DB_USER', ''), setting('DB_PASSWORD', ''), [
		\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION,
		\PDO::ATTR_DEFAULT_FETCH_MODE => \PDO::FETCH_ASSOC,
		\PDO::ATTR_TIMEOUT => LOCK_WAIT_S,
	]);
	/* MySQL: after waiting for a player's row, what others committed meanwhile has to be seen. */
	$db->exec(is_mysql() ? 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED'
		: 'PRAGMA synchronous = FULL');
	if (is_mysql())
		$db->exec('SET SESSION innodb_lock_wait_timeout = ' . LOCK_WAIT_S);
	return $db;
}

/*
 * Runs $work in a transaction, from the start again when another one was in the way: of two copies
 * of a bet that come at once, one finds the other's row or its key taken (23000), or is the victim
 * of a deadlock (40001).
 */
function transact(\PDO $db, callable $work): mixed
{
	for ($try = 1;; $try++) {
		/* SQLite: locked for writing at once. Otherwise two could read and then not both write. */
		$db->exec(is_mysql() ? 'START TRANSACTION' : 'BEGIN IMMEDIATE');
		try {
			$done = $work();
			$db->exec('COMMIT');
			return $done;
		} catch (\Throwable $error) {
			try {
				$db->exec('ROLLBACK');
			} catch (\PDOException) {
				/* It may be rolled back already. */
			}
			$state = $error instanceof \PDOException ? (string)$error->getCode() : '';
			if ($try === TRIES || !in_array($state, ['23000', '40001'], true))
				throw $error;
		}
	}
}

function query(\PDO $db, string $sql, array $values): \PDOStatement
{
	$statement = $db->prepare($sql);
	$statement->execute($values);
	return $statement;
}

/* --- Receiving: the rules --------------------------------------------------------------------- */

/*
 * What is done, by the state of the transaction_id's row ("none": there is none) and by the callback.
 * One id moves credit once, and each callback may come any number of times, late, in any order. The
 * tombstone is a refund that came before its bet: the bet is refused when it comes. A bet above the
 * balance stays refused: the platform has rejected it, so an attacker sends it again.
 */
const RULES = [
	/*              betting     betting-result  betting-refund */
	'none'      => ['debit',    'credit',       'bury'],
	'bet'       => ['ok',       'conflict',     'give back'],
	'refunded'  => ['refunded', 'conflict',     'ok'],
	'tombstone' => ['refunded', 'conflict',     'ok'],
	'paid'      => ['conflict', 'ok',           'conflict'],
	'refused'   => ['no credit', 'conflict',    'ok'],
];
const NEXT = ['debit' => 'bet', 'credit' => 'paid', 'bury' => 'tombstone', 'give back' => 'refunded'];
const SIGNS = ['debit' => -1, 'credit' => 1, 'bury' => 0, 'give back' => 1];

/* Runs in a transaction. Returns the answer's JSON; a refusal that is remembered, to be thrown. */
function apply_rules(\PDO $db, string $kind, array $call): string|Refused
{
	$lock = is_mysql() ? ' FOR UPDATE' : '';
	$player = query($db, "SELECT balance FROM players WHERE user_id = ?$lock",
		[$call['user_id']])->fetch();
	if (!$player && $kind !== 'betting-refund')
		throw new Refused(404, 'user_not_found', 'the user is not known');
	$balance = $player ? (int)$player['balance'] : null;
	/* A loss has transaction_id 0 and moves nothing. To count losses, find repeats by webhook-id. */
	if ($kind !== 'balance-inquire' && $call['result'] !== 'loss')
		$balance = move($db, $kind, $call, $balance);
	if ($balance instanceof Refused)
		return $balance;
	/* {} and not []: an answer has to be an object. */
	return $balance === null ? '{}' : sprintf('{"user_id":%s,"balance":%s,"currency":%s}',
		json_encode($call['user_id']), amount_text($balance), json_encode(setting('CURRENCY', 'thb')));
}

/* Applies one cell of RULES. Returns the balance after it; null: the user is not known. */
function move(\PDO $db, string $kind, array $call, ?int $balance): int|Refused|null
{
	$row = query($db, 'SELECT * FROM transactions WHERE transaction_id = ?',
		[$call['transaction_id']])->fetch();
	$action = RULES[$row['state'] ?? 'none'][KINDS[$kind]];
	$no_credit = new Refused(402, 'insufficient_balance', 'the balance is lower than the bet');
	if ($action === 'refunded')
		throw new Refused(409, 'bet_refunded', 'the bet was refunded');
	if ($action === 'no credit')
		throw $no_credit;
	if ($action === 'conflict' || ($row && ($row['user_id'] !== $call['user_id'] ||
			$row['game_id'] !== $call['game_id'] || (int)$row['amount'] !== $call['amount'] ||
			$row['result'] !== $call['result'])))
		throw new Refused(409, 'transaction_conflict', 'the transaction_id has other content');
	if ($action === 'ok')
		return $balance;
	if ($kind === 'betting' && $call['amount'] === 0)
		throw new Refused(400, 'invalid_amount', 'the amount is not valid');
	if ($balance === null && $action === 'give back')
		throw new Refused(404, 'user_not_found', 'the user is not known');
	$after = $balance === null ? null : $balance + SIGNS[$action] * $call['amount'];
	$next = $after < 0 ? 'refused' : NEXT[$action];
	if ($row)
		query($db, 'UPDATE transactions SET state = ? WHERE transaction_id = ?',
			[$next, $call['transaction_id']]);
	else
		query($db, 'INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?)', [$call['transaction_id'],
			$next, $call['user_id'], $call['game_id'], $call['amount'], $call['result']]);
	if ($after < 0)
		return $no_credit;
	query($db, 'UPDATE players SET balance = ? WHERE user_id = ?', [$after, $call['user_id']]);
	return $after;
}

/* --- Receiving: HTTP -------------------------------------------------------------------------- */

/* One callback. Returns the answer's JSON. */
function handle(): string
{
	$kind = basename((string)parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
	if (!isset(KINDS[$kind]))
		throw new Refused(404, 'not_found', 'there is no such path');
	if ($_SERVER['REQUEST_METHOD'] !== 'POST')
		throw new Refused(405, 'method_not_allowed', 'the path takes POST');
	$raw = file_get_contents('php://input', false, null, 0, BODY_MAX + 1);
	if (strlen($raw) > BODY_MAX)
		throw new Refused(413, 'payload_too_large', 'the body is too large');
	if (!is_signed($_SERVER['HTTP_X_CASINO_SIGNATURE'] ?? '', $raw))
		throw new Refused(401, 'invalid_signature', 'the signature is not valid');
	$sent_as = $_SERVER['HTTP_WEBHOOK_ID'] ?? "$kind-0";
	if (!preg_match('/^' . $kind . '-\d+$/D', $sent_as))
		throw new Refused(400, 'bad_request', 'webhook-id: is not of this callback');
	$call = read_call($kind, $raw);
	$db = database();
	$answer = transact($db, fn () => apply_rules($db, $kind, $call));
	return $answer instanceof Refused ? throw $answer : $answer;
}

function receive(): void
{
	/* A warning would stand before the JSON, and make the answer unreadable. */
	ini_set('display_errors', '0');
	set_error_handler(function (int $level, string $text, string $file, int $line) {
		throw new \ErrorException($text, 0, $level, $file, $line);
	});
	try {
		[$status, $answer] = [200, handle()];
	} catch (Refused $no) {
		$status = $no->status;
		$answer = json_encode(['id' => $no->id, 'detail' => $no->detail]);
	} catch (\Throwable $error) {
		/* For the platform a 5xx is no refusal: it refunds the bet, or calls again. */
		error_log("creditbridge: $error");
		$status = 500;
		$answer = '{"id":"internal_error","detail":"the outcome is not known; repeat the call"}';
	}
	http_response_code($status);
	if ($status === 405)
		header('Allow: POST');
	header('Content-Type: application/json');
	header('Cache-Control: no-store');
	echo $answer;
}

/* --- Calling the wallet ----------------------------------------------------------------------- */

/* One attempt: [status, Retry-After or '', body]; status 0: no answer. */
function send(string $method, string $path, string $body): array
{
	$after = '';
	$curl = curl_init(rtrim(setting('URL'), '/') . $path);
	curl_setopt_array($curl, [
		/* Also for a GET, which has a body here: CURLOPT_HTTPGET would drop it. */
		CURLOPT_CUSTOMREQUEST => $method,
		CURLOPT_POSTFIELDS => $body,
		CURLOPT_RETURNTRANSFER => true,
		CURLOPT_TIMEOUT => TIMEOUT_S,
		CURLOPT_HTTPHEADER => [
			'Content-Type: application/json',
			'x-casino-id: ' . setting('CASINO'),
			'x-casino-signature: ' . sign(keys()[0], $body),
		],
		CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$after): int {
			if (preg_match('/^Retry-After: *(\d+)/i', $line, $match))
				$after = $match[1];
			return strlen($line);
		},
	]);
	$text = curl_exec($curl);
	return $text === false ? [0, '', curl_error($curl)]
		: [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $after, $text];
}

/*
 * Repeats the same bytes, and so the same reference, until there is an answer that counts. Returns
 * [status, body]; status 0: the outcome is not known, and the same call is to be made again later.
 * Note a transfer's reference in your database before you call.
 */
function call(string $method, string $path, string $body): array
{
	$wait = 0;
	for ($try = 0; $try < TRIES; $try++) {
		sleep($wait);
		[$status, $after, $text] = send($method, $path, $body);
		if ($status === 200 ? is_array(json_decode($text, true))
				: $status !== 0 && $status < 500 && $status !== 429)
			return [$status, $text];
		$wait = $after !== '' ? min((int)$after, 30) : 2 ** $try;
	}
	return [0, ''];
}

/* $direction: in or out. $amount: "12.5", digits that are sent as they are. */
function transfer(string $direction, string $user, string $amount, string $reference): array
{
	return call('POST', "/wallet-service/credit/transfer-$direction", sprintf(
		'{"amount":%s,"request_transaction_id":%s,"user_id":%s}',
		amount_text(units($amount)), json_encode($reference), json_encode($user)));
}

/* --- Command line ----------------------------------------------------------------------------- */

/* Makes the tables, once. */
function install(): array
{
	$db = database();
	if (!is_mysql())
		$db->exec('PRAGMA journal_mode = WAL');
	/* Ids are bytes: MySQL's VARCHAR would take "Bob", "bob" and "bob " for the same user. */
	$id = is_mysql() ? 'VARBINARY(128)' : 'TEXT';
	$engine = is_mysql() ? 'ENGINE=InnoDB' : '';
	$db->exec("CREATE TABLE IF NOT EXISTS players (
		user_id $id NOT NULL PRIMARY KEY,
		balance BIGINT NOT NULL CHECK (balance >= 0)) $engine");
	/* The primary key is what lets one transaction_id move credit once. Never delete from here. */
	$db->exec("CREATE TABLE IF NOT EXISTS transactions (
		transaction_id BIGINT NOT NULL PRIMARY KEY,
		state VARCHAR(10) NOT NULL,
		user_id $id NOT NULL,
		game_id $id NOT NULL,
		amount BIGINT NOT NULL,
		result VARCHAR(10) NOT NULL) $engine");
	return [200, 'the tables are there'];
}

function player(string $user, string $amount): array
{
	$db = database();
	transact($db, function () use ($db, $user, $amount) {
		query($db, 'DELETE FROM players WHERE user_id = ?', [$user]);
		query($db, 'INSERT INTO players VALUES (?, ?)', [$user, units($amount)]);
	});
	return [200, "$user has $amount"];
}

function vectors(string $file): array
{
	$rows = json_decode(file_get_contents($file), true)['vectors'];
	$good = array_filter($rows, fn ($row) => $row['signature'] ===
		sign($row['key'], str_repeat(base64_decode($row['body_base64']), $row['times'])));
	return [$good && $good == $rows ? 200 : 400, count($good) . ' of ' . count($rows) . ' vectors'];
}

function main(array $words): int
{
	$commands = ['balance' => 1, 'in' => 3, 'out' => 3, 'result' => 2, 'install' => 0, 'player' => 2,
		'--vectors' => 1];
	$name = array_shift($words) ?? '';
	if (($commands[$name] ?? -1) !== count($words)) {
		fwrite(STDERR, "usage: creditbridge.php balance USER | in|out USER AMOUNT REFERENCE |\n" .
			"       result USER GAME | install | player USER AMOUNT | --vectors FILE\n");
		return 2;
	}
	[$status, $text] = match ($name) {
		'in', 'out' => transfer($name, ...$words),
		'balance' => call('GET', '/user-service/user/3rdparty-get-balance', json_encode(
			['user_id' => $words[0], 'request_timestamp' => (int)(microtime(true) * 1000)])),
		'result' => call('GET', '/game-service/bet_game/result-inquire', json_encode(
			['user_id' => $words[0], 'game_id' => $words[1]])),
		'install' => install(),
		'player' => player(...$words),
		'--vectors' => vectors(...$words),
	};
	fwrite($status ? STDOUT : STDERR, $status ? "$text\n"
		: "the outcome is not known: repeat with the same reference\n");
	return $status === 200 ? 0 : ($status ? 1 : 75);
}

/* Of a program that includes this file, what follows would answer the program's own requests. */
if (debug_backtrace())
	return;
if (PHP_SAPI !== 'cli')
	receive();
else
	exit(main(array_slice($argv, 1)));
