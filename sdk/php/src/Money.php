<?php

declare(strict_types=1);

namespace Creditbridge;

/*
 * Money is text in credits ("12.5") or an integer of ten-thousandths (125000), and never a float: 0.1 + 0.2
 * is not 0.3 in floats, and the wallet refuses it.
 */
final class Money
{
	private const NAMES = ['amount', 'before_balance', 'current_balance', 'balance', 'staked', 'turnover',
		'profit_loss', 'bet_amount', 'addition_amount', 'win_amount', 'payout_amount',
		'correction_amount', 'previous_payout_amount', 'shortfall', 'delta'];
	/* What the game says of itself: any JSON, passed on as json_decode() has it. */
	private const OPAQUE = ['user_bet', 'game_result', 'user_bet_result'];
	private const DIGITS_MAX = 15;

	/* "12.50" -> 125000. Throws a RangeException unless it is an amount of at most 4 decimals. */
	public static function units(string|int|float $text): int
	{
		/* Without strict_types PHP would make text of a float. */
		if (!is_string($text))
			throw new \TypeError('an amount is text such as "12.50", never a float');
		if (!preg_match('/^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/D', $text, $part))
			throw new \RangeException("$text: not an amount");
		$decimals = $part[3] ?? '';
		$digits = ltrim($part[2] . $decimals, '0');
		$short = rtrim($digits, '0');
		$zeros = strlen($digits) - strlen($short) - strlen($decimals) + (int)($part[4] ?? 0) + 4;
		if ($short === '')
			return 0;
		if ($zeros < 0 || strlen($short) + $zeros > self::DIGITS_MAX)
			throw new \RangeException("$text: more than 4 decimals, or too large");
		return (int)($part[1] . $short . str_repeat('0', $zeros));
	}

	/* 125000 -> "12.5" */
	public static function text(int $units): string
	{
		if (abs($units) >= 10 ** self::DIGITS_MAX)
			throw new \RangeException("$units: out of range");
		$text = sprintf('%s%d.%04d', $units < 0 ? '-' : '', intdiv(abs($units), 10000),
			abs($units) % 10000);
		return rtrim(rtrim($text, '0'), '.');
	}

	/*
	 * Parses a body of the protocol. Money becomes text of its exact digits: json_decode() would make
	 * floats of it. Throws a JsonException or RangeException unless it is one JSON object.
	 */
	public static function decode(string $json): array
	{
		$value = json_decode($json, true, 64, JSON_THROW_ON_ERROR);
		if (!is_array($value) || ltrim($json, " \t\r\n")[0] !== '{')
			throw new \JsonException('not a JSON object');
		/* Once more with the numbers outside of strings in quotes, which keeps their digits. */
		$quoted = preg_replace('/"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"(*SKIP)(*FAIL)|-?\d[\d.eE+-]*/s',
			'"$0"', $json) ?? throw new \JsonException('the document is too large');
		return self::withMoney($value, json_decode($quoted, true, 64, JSON_THROW_ON_ERROR));
	}

	private static function withMoney(array $value, array $texts): array
	{
		foreach ($value as $name => $member) {
			if (in_array($name, self::NAMES, true) && (is_int($member) || is_float($member)))
				$value[$name] = self::text(self::units($texts[$name]));
			elseif (in_array($name, self::NAMES, true) && is_string($member))
				throw new \RangeException("$name: must be a number");
			elseif (is_array($member) && !in_array($name, self::OPAQUE, true))
				$value[$name] = self::withMoney($member, $texts[$name]);
		}
		return $value;
	}
}
