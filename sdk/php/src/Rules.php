<?php

declare(strict_types=1);

namespace Creditbridge;

/*
 * What a seamless dealer does with a callback, by the state of the row that it has for its transaction_id.
 * Pure: you read and store row and balance, both in one transaction of your database.
 */
final class Rules
{
	/*
	 * One id moves credit once, and each callback may come any number of times, late, and in any order. A
	 * tombstone is a refund that came before its bet: that bet is refused. A bet above the balance stays
	 * refused: the platform has rejected it, so only an attacker sends it again.
	 */
	private const RULES = [
		/*              betting      betting-result  betting-refund  betting-correction */
		'none'      => ['debit',     'credit',       'bury',         'take'],
		'bet'       => ['success',   'conflict',     'return',       'conflict'],
		'refunded'  => ['refunded',  'conflict',     'success',      'conflict'],
		'tombstone' => ['refunded',  'conflict',     'success',      'conflict'],
		'paid'      => ['conflict',  'success',      'conflict',     'conflict'],
		'refused'   => ['no credit', 'conflict',     'success',      'conflict'],
		'corrected' => ['conflict',  'conflict',     'conflict',     'success'],
	];
	private const KINDS = ['betting' => 0, 'betting-result' => 1, 'betting-refund' => 2,
		'betting-correction' => 3];
	private const AMOUNTS = ['bet_amount', 'payout_amount', 'bet_amount', 'correction_amount'];
	private const NEXT = ['debit' => 'bet', 'credit' => 'paid', 'bury' => 'tombstone',
		'return' => 'refunded'];
	private const FACTOR = ['debit' => -1, 'credit' => 1, 'bury' => 0, 'return' => 1];
	private const REFUSALS = [
		'refunded' => [409, 'bet_refunded', 'the bet was refunded'],
		'no credit' => [402, 'insufficient_balance', 'the balance is lower than the bet'],
		'conflict' => [409, 'transaction_conflict', 'the transaction_id has other content'],
		'no player' => [404, 'user_not_found', 'the user is not known'],
	];

	/*
	 * $row: what you have stored for the transaction_id, or null: {state, user_id, game_id, amount, result},
	 * and shortfall if the state is "corrected". $balance: the player's, in ten-thousandths; null: you have no such player. Returns {status, json, row,
	 * balance}: store row and balance unless they are null, commit, and only then answer json with status.
	 */
	public static function decide(Callback $callback, ?array $row, ?int $balance, string $currency): array
	{
		[$kind, $body] = [$callback->kind, $callback->body];
		if ($balance === null && $kind !== 'betting-refund')
			return self::refuse('no player');
		/* A loss has the transaction_id 0 and moves nothing. */
		if ($kind === 'balance-inquire' || ($body['result'] ?? '') === 'loss')
			return self::answer($body, $balance, $currency);
		$amount = abs(Money::units($body[self::AMOUNTS[self::KINDS[$kind]]]));
		$wanted = ['user_id' => $body['user_id'], 'game_id' => $body['game_id'], 'amount' => $amount,
			'result' => $body['result'] ?? ''];
		$action = self::RULES[$row['state'] ?? 'none'][self::KINDS[$kind]];
		if ($action === 'conflict' || ($row !== null && !self::isSame($row, $wanted)))
			return self::refuse('conflict');
		if ($action === 'success')
			return self::answer($body, $balance, $currency,
				$kind === 'betting-correction' ? (int)$row['shortfall'] : null);
		if ($action === 'take')
			return self::take($body, $balance, $currency, $wanted);
		if (!isset(self::NEXT[$action]))
			return self::refuse($action);
		if ($balance === null && $action === 'return')
			return self::refuse('no player');
		$after = $balance === null ? null : $balance + self::FACTOR[$action] * $amount;
		if ($after < 0)
			return self::refuse('no credit', ['state' => 'refused'] + $wanted);
		return ['row' => ['state' => self::NEXT[$action]] + $wanted,
			'balance' => $action === 'bury' ? null : $after] + self::answer($body, $after, $currency);
	}

	/* A decrease takes what is there. The rest is the shortfall, which a repeated call is answered again. */
	private static function take(array $body, int $balance, string $currency, array $wanted): array
	{
		$shortfall = max($wanted['amount'] - $balance, 0);
		$after = $balance - $wanted['amount'] + $shortfall;
		return ['row' => ['state' => 'corrected'] + $wanted + ['shortfall' => $shortfall],
			'balance' => $after] + self::answer($body, $after, $currency, $shortfall);
	}

	private static function isSame(array $row, array $wanted): bool
	{
		/* A database driver may return numbers as text. */
		foreach ($wanted as $name => $value) {
			if ((string)$row[$name] !== (string)$value)
				return false;
		}
		return true;
	}

	private static function refuse(string $why, ?array $row = null): array
	{
		[$status, $id, $detail] = self::REFUSALS[$why];
		return ['status' => $status, 'json' => json_encode(['id' => $id, 'detail' => $detail]),
			'row' => $row, 'balance' => null];
	}

	private static function answer(array $body, ?int $balance, string $currency, ?int $shortfall = null): array
	{
		/* {} and not []: an answer has to be an object. The digits are written as they are. */
		$more = $shortfall === null ? '' : ',"shortfall":' . Money::text($shortfall);
		$json = $balance === null ? '{}' : sprintf('{"user_id":%s,"balance":%s,"currency":%s%s}',
			json_encode($body['user_id']), Money::text($balance), json_encode($currency), $more);
		return ['status' => 200, 'json' => $json, 'row' => null, 'balance' => null];
	}
}
