<?php

declare(strict_types=1);

namespace Creditbridge;

/* A verified callback. $body has its members; amounts are text. */
final class Callback
{
	private const PLAYER = ['user_id' => 'id', 'player_id' => 'id'];
	private const GAME = self::PLAYER + ['game_id' => 'id', 'remark' => 'string',
		'transaction_id' => 'integer', 'timestamp' => 'integer', 'bet_amount' => 'amount'];
	/* Members that must be there. Others are ignored: there may be new ones. */
	private const MEMBERS = [
		'balance-inquire' => self::PLAYER,
		'betting' => self::GAME + ['user_bet' => 'object'],
		'betting-result' => self::GAME + ['result' => 'string', 'payout_amount' => 'amount'],
		'betting-refund' => self::GAME,
		'betting-correction' => self::PLAYER + ['game_id' => 'id', 'remark' => 'string',
			'transaction_id' => 'integer', 'timestamp' => 'integer', 'correction_amount' => 'decrease',
			'previous_payout_amount' => 'amount', 'payout_amount' => 'amount', 'revision' => 'integer'],
	];
	/*
	 * Members that must not be there, because they show a body of another callback. x-casino-signature
	 * covers only the body, so an attacker that saw a bet could send it to the path of refunds.
	 */
	private const FOREIGN = ['balance-inquire' => [], 'betting' => ['result'], 'betting-result' => [],
		'betting-refund' => ['result', 'user_bet'], 'betting-correction' => ['result', 'bet_amount']];

	public function __construct(
		public readonly string $kind,
		public readonly array $body,
		public readonly Verified $verified = new Verified(null, null, null),
	) {}

	/* Reads the body of a verified callback. Throws a CallbackException. */
	public static function parse(string $kind, string $rawBody, Verified $verified): self
	{
		$members = self::MEMBERS[$kind]
			?? throw new CallbackException(404, 'not_found', "there is no callback $kind");
		if ($verified->kind !== null && $verified->kind !== $kind)
			throw self::bad('webhook-id: is not of this callback');
		try {
			$body = Money::decode($rawBody);
		} catch (\JsonException) {
			throw self::bad('the body is not a JSON object');
		} catch (\RangeException $error) {
			throw self::bad($error->getMessage());
		}
		foreach ($members as $name => $type) {
			if (!self::isOfType($type, $body[$name] ?? null))
				throw self::bad("$name: must be there, as $type");
		}
		foreach (self::FOREIGN[$kind] as $name) {
			if (array_key_exists($name, $body))
				throw self::bad('the body is of another callback');
		}
		$result = $body['result'] ?? '';
		if ($kind === 'betting-result' && !in_array($result, ['win', 'loss', 'refund'], true))
			throw self::bad('result: must be win, loss or refund');
		if ($kind !== 'balance-inquire' && $result !== 'loss' && $body['transaction_id'] === 0)
			throw self::bad('transaction_id: must not be 0');
		return new self($kind, $body, $verified);
	}

	private static function bad(string $detail): CallbackException
	{
		return new CallbackException(400, 'bad_request', $detail);
	}

	private static function isOfType(string $type, mixed $value): bool
	{
		return match ($type) {
			'id' => is_string($value) && $value !== '' && strlen($value) <= 128,
			'string' => is_string($value),
			'integer' => is_int($value) && $value >= 0,
			'amount' => is_string($value) && ctype_digit($value[0] ?? ''),
			'decrease' => is_string($value) && str_starts_with($value, '-'),
			/* json_decode() makes the same of {"0":1} and [1]. */
			'object' => is_array($value),
		};
	}
}
