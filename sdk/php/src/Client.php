<?php

declare(strict_types=1);

namespace Creditbridge;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/*
 * A dealer's calls to the wallet over a PSR-18 client. Give that client a timeout of 10 s. A transfer is
 * repeated with the same bytes, and so with the same request_transaction_id, which the wallet recognises:
 * credit moves once. Each method throws a RefusedException or an UnknownOutcomeException.
 */
final class Client
{
	private const TRANSFER = '/wallet-service/credit/transfer-';
	private const CALLBACKS = '/wallet-service/callbacks';
	private const ANSWER_MAX = 4194304;
	private const RETRY_AFTER_MAX_S = 30;

	private \Closure $wait;

	/* $wait gets the milliseconds to wait before a further attempt. */
	public function __construct(
		private ClientInterface $http,
		private RequestFactoryInterface $requests,
		private StreamFactoryInterface $streams,
		private string $baseUrl,
		private string $casinoId,
		private string $key,
		private string $algorithm = 'hmac-sha256',
		private string $encoding = 'hex',
		private int $attempts = 5,
		?\Closure $wait = null,
	) {
		$this->wait = $wait ?? fn (int $ms) => usleep(1000 * $ms);
	}

	/*
	 * Credit into the platform. $amount: text in credits, or an integer of ten-thousandths; a float is a
	 * TypeError. Note $requestTransactionId in your database before the call.
	 */
	public function transferIn(string $userId, string|int|float $amount, string $requestTransactionId): array
	{
		return $this->transfer('in', $userId, $amount, $requestTransactionId);
	}

	/* Credit out of the platform. */
	public function transferOut(string $userId, string|int|float $amount, string $requestTransactionId): array
	{
		return $this->transfer('out', $userId, $amount, $requestTransactionId);
	}

	/* The player's whole credit out of the platform. */
	public function transferOutAll(string $userId, string $requestTransactionId): array
	{
		return $this->move('out', sprintf('"all":true,"request_transaction_id":%s,"user_id":%s',
			self::json($requestTransactionId), self::json($userId)));
	}

	/*
	 * What became of a transfer: state is done (with transfer), refused (with error), sealed or unknown. With
	 * $seal an unknown id is sealed: no transfer can use it any more, so the answer is final.
	 */
	public function transferInquire(string $requestTransactionId, bool $seal = false): array
	{
		return $this->read('/wallet-service/credit/transfer-inquire',
			['request_transaction_id' => $requestTransactionId] + ($seal ? ['seal' => true] : []));
	}

	/*
	 * The transactions after the id $after: items, and next, the next call's $after. Waits up to $waitMs for
	 * one: less than the timeout of your PSR-18 client. Unless complete is true, continue at once.
	 */
	public function feed(int $after = 0, int $limit = 100, int $waitMs = 0): array
	{
		return $this->read('/wallet-service/feed', ['after' => $after, 'limit' => $limit,
			'wait_ms' => $waitMs]);
	}

	/* As feed(), of one player, the newest first. */
	public function history(string $userId, int $after = 0, int $limit = 100): array
	{
		return $this->read('/wallet-service/history', ['user_id' => $userId, 'after' => $after,
			'limit' => $limit]);
	}

	/* Your callbacks that are not delivered: $state is "parked" or "due". */
	public function callbacks(string $state = 'parked', int $after = 0, int $limit = 100): array
	{
		return $this->read(self::CALLBACKS, ['state' => $state, 'after' => $after, 'limit' => $limit]);
	}

	/*
	 * Lets a parked or due callback be sent once more now. Refused (429, rate_limited) if it was in the last 5
	 * minutes; that is not repeated.
	 */
	public function resend(string $webhookId): array
	{
		return $this->call(self::CALLBACKS . '/resend', fn () => self::json(['webhook_id' => $webhookId]),
			once: true);
	}

	public function balance(string $userId): array
	{
		return $this->read('/user-service/user/3rdparty-get-balance', ['user_id' => $userId]);
	}

	/* With $betSummary also 30 days, one row each. */
	public function stat(string $userId, bool $betSummary = false): array
	{
		return $this->read('/user-service/user/stat', ['user_id' => $userId] +
			($betSummary ? ['include_data' => ['bet_summary']] : []));
	}

	public function resultInquire(string $userId, string $gameId): array
	{
		return $this->call('/game-service/bet_game/result-inquire',
			fn () => self::json(['user_id' => $userId, 'game_id' => $gameId]));
	}

	private function transfer(string $direction, string $userId, string|int|float $amount, string $id): array
	{
		/* Built once: every attempt sends the same bytes. The digits are sent as they are. */
		return $this->move($direction, sprintf('"amount":%s,"request_transaction_id":%s,"user_id":%s',
			Money::text(is_int($amount) ? $amount : Money::units($amount)), self::json($id),
			self::json($userId)));
	}

	private function move(string $direction, string $members): array
	{
		return $this->call(self::TRANSFER . $direction, fn () => "{{$members}}", true);
	}

	/* A read is repeated with the time of its attempt. POST, because not every client sends a GET's body. */
	private function read(string $path, array $members): array
	{
		return $this->call($path, fn () => self::json($members +
			['request_timestamp' => (int)(microtime(true) * 1000)]));
	}

	private static function json(mixed $value): string
	{
		return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
	}

	/* One attempt: [status, headers of the answer, its members or null]. */
	private function send(string $path, string $body): array
	{
		$request = $this->requests->createRequest('POST', rtrim($this->baseUrl, '/') . $path)
			->withHeader('Content-Type', 'application/json')
			->withHeader('x-casino-id', $this->casinoId)
			->withHeader('x-casino-signature',
				Signature::sign($this->key, $body, $this->algorithm, $this->encoding))
			->withBody($this->streams->createStream($body));
		$response = $this->http->sendRequest($request);
		$text = '';
		while (!$response->getBody()->eof() && strlen($text) <= self::ANSWER_MAX)
			$text .= $response->getBody()->read(65536);
		try {
			$members = strlen($text) > self::ANSWER_MAX ? null : Money::decode($text);
		} catch (\JsonException | \RangeException) {
			$members = null;
		}
		return [$response->getStatusCode(), fn ($name) => $response->getHeaderLine($name), $members];
	}

	/*
	 * Repeats after no answer, a 5xx, 429 and what is no answer of the wallet; nothing else. With $once a 429 is
	 * not repeated.
	 */
	private function call(string $path, \Closure $makeBody, bool $isTransfer = false, bool $once = false): array
	{
		$cause = null;
		$unknown = false;
		for ($attempt = 0; $attempt < $this->attempts;) {
			if ($attempt)
				($this->wait)((int)$delayMs);
			/* With jitter, so that many callers do not come back at the same moment. */
			$delayMs = 1000 * 2 ** min($attempt++, 4) * (1 + random_int(0, 250) / 1000);
			try {
				[$status, $header, $body] = $this->send($path, $makeBody());
			} catch (ClientExceptionInterface | \RuntimeException $error) {
				/* Also of a request exception: Guzzle throws one when an answer is cut off. */
				[$cause, $unknown] = [$error, true];
				continue;
			}
			if ($status === 200 && $body !== null)
				return $isTransfer
					? $body + ['replayed' => $header('X-Idempotent-Replay') === 'true'] : $body;
			$cause = new RefusedException($status, $body);
			if ($status >= 400 && $status < 500 && ($status !== 429 || $once)) {
				if ($unknown && in_array($status, RefusedException::ONLY_THIS_CALL, true))
					break;
				throw $cause;
			}
			$unknown = $unknown || $status !== 429;
			if (preg_match('/^\d{1,9}$/D', $header('Retry-After')))
				$delayMs = 1000 * min((int)$header('Retry-After'), self::RETRY_AFTER_MAX_S);
		}
		throw new UnknownOutcomeException($attempt, $cause);
	}
}
