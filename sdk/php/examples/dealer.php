<?php
/*
 * A seamless dealer: PSR-7 and PSR-17 by guzzlehttp/psr7, storage by PDO with SQLite.
 *
 *     php dealer.php player USER AMOUNT     sets what a player has
 *     PHP_CLI_SERVER_WORKERS=8 php -S 127.0.0.1:9000 dealer.php
 *
 * CREDITBRIDGE_DSN is the database, CREDITBRIDGE_KEY_FILE has your live keys, one a line.
 */
declare(strict_types=1);

use Creditbridge\Callback;
use Creditbridge\CallbackMiddleware;
use Creditbridge\Money;
use Creditbridge\Rules;
use GuzzleHttp\Psr7\HttpFactory;
use GuzzleHttp\Psr7\Response;
use GuzzleHttp\Psr7\ServerRequest;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\RequestHandlerInterface;

require __DIR__ . '/../vendor/autoload.php'; // composer require creditbridge/dealer guzzlehttp/psr7

final class Dealer implements RequestHandlerInterface
{
	public function __construct(private PDO $db) {}

	public function handle(ServerRequestInterface $request): ResponseInterface
	{
		$callback = $request->getAttribute(Callback::class);
		[$id, $user] = [$callback->body['transaction_id'] ?? 0, $callback->body['user_id']];
		/* Locked for writing at once. An exception ends as a 500: the platform repeats or refunds. */
		$this->db->exec('BEGIN IMMEDIATE');
		$balance = $this->query('SELECT balance FROM players WHERE user_id = ?', $user)->fetchColumn();
		$row = $this->query('SELECT * FROM transactions WHERE transaction_id = ?', $id)->fetch();
		$made = Rules::decide($callback, $row ?: null, $balance === false ? null : $balance, 'thb');
		if ($made['row']) {
			$names = array_keys($made['row']);
			$this->query('REPLACE INTO transactions (' . implode(', ', $names) . ', transaction_id)
				VALUES (' . str_repeat('?, ', count($names)) . '?)', ...array_values($made['row']), ...[$id]);
		}
		if ($made['balance'] !== null)
			$this->query('UPDATE players SET balance = ? WHERE user_id = ?', $made['balance'], $user);
		$this->db->exec('COMMIT');
		return new Response($made['status'], [], $made['json']);
	}

	public function install(): void
	{
		$this->db->exec('PRAGMA journal_mode = WAL');
		$this->db->exec('CREATE TABLE IF NOT EXISTS players (
			user_id TEXT NOT NULL PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0))');
		/* The primary key is what lets one transaction_id move credit once. Never delete from here. */
		$this->db->exec('CREATE TABLE IF NOT EXISTS transactions (
			transaction_id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL, user_id TEXT NOT NULL,
			game_id TEXT NOT NULL, amount INTEGER NOT NULL, result TEXT NOT NULL,
			shortfall INTEGER NOT NULL DEFAULT 0)');
	}

	public function player(string $user, string $amount): void
	{
		$this->query('REPLACE INTO players VALUES (?, ?)', $user, Money::units($amount));
	}

	private function query(string $sql, mixed ...$values): PDOStatement
	{
		$statement = $this->db->prepare($sql);
		$statement->execute($values);
		return $statement;
	}
}

$db = new PDO(getenv('CREDITBRIDGE_DSN'), null, null,
	[PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC, PDO::ATTR_TIMEOUT => 2]);
$db->exec('PRAGMA synchronous = FULL');
$dealer = new Dealer($db);
if (PHP_SAPI === 'cli') {
	$dealer->install();
	$dealer->player($argv[2], $argv[3]);
	exit(0);
}
ini_set('display_errors', '0'); /* a warning before the JSON makes an answer unreadable */
$factory = new HttpFactory();
$keys = file(getenv('CREDITBRIDGE_KEY_FILE'), FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES);
$response = (new CallbackMiddleware($keys, $factory, $factory))->process(ServerRequest::fromGlobals(), $dealer);
http_response_code($response->getStatusCode());
header('Content-Type: application/json');
echo $response->getBody();
