<?php

declare(strict_types=1);

namespace Creditbridge;

/*
 * Signatures of both directions. The signed bytes are the raw body, and the key's 64 characters are the
 * key: they look like hex and are not decoded.
 */
final class Signature
{
	private const HASHES = ['hmac-sha256' => 'sha256', 'hmac-sha512' => 'sha512', 'hmac-sha1' => 'sha1'];

	/* The value of x-casino-signature for the bytes $body. $encoding: hex or base64. */
	public static function sign(string $key, string $body, string $algorithm = 'hmac-sha256',
		string $encoding = 'hex'): string
	{
		$mac = self::mac($algorithm, $key, $body);
		return match ($encoding) {
			'hex' => bin2hex($mac),
			'base64' => base64_encode($mac),
			default => throw new \InvalidArgumentException("unknown encoding $encoding"),
		};
	}

	/*
	 * Verifies x-casino-signature, and by the webhook headers the id and the time of the attempt. Each of
	 * your live keys $keys may have signed. $headers: name => value or list of values. Throws a
	 * SignatureException. With $requireWebhook false, a callback without any webhook header is accepted:
	 * its time and its kind are then not protected.
	 */
	public static function verify(string $rawBody, array $headers, array $keys,
		string $algorithm = 'hmac-sha256', int $toleranceS = 300, ?int $now = null,
		bool $requireWebhook = true): Verified
	{
		$keys !== [] || throw new \InvalidArgumentException('there is no key');
		$signature = self::header($headers, 'x-casino-signature')
			?? throw new SignatureException('x-casino-signature is missing');
		$macs = array_map(fn ($key) => self::mac($algorithm, $key, $rawBody), $keys);
		if (!self::matches($signature, $macs, true))
			throw new SignatureException('x-casino-signature is of another key or of other bytes');
		$id = self::header($headers, 'webhook-id');
		$time = self::header($headers, 'webhook-timestamp');
		$signatures = self::header($headers, 'webhook-signature');
		if (!$requireWebhook && $id === null && $time === null && $signatures === null)
			return new Verified(null, null, null);
		if ($id === null || $time === null || $signatures === null)
			throw new SignatureException('a webhook header is missing');
		if (!preg_match('/^([a-z]+(?:-[a-z]+)*)-\d{1,20}$/D', $id, $kind) ||
				!preg_match('/^\d{1,12}$/D', $time))
			throw new SignatureException('webhook-id or webhook-timestamp is malformed');
		/* Standard Webhooks: always SHA-256; of several signatures and keys one pair must match. */
		$macs = array_map(fn ($key) => self::mac('hmac-sha256', $key, "$id.$time.$rawBody"), $keys);
		$good = false;
		foreach (explode(' ', $signatures) as $one)
			$good = (str_starts_with($one, 'v1,') && self::matches(substr($one, 3), $macs, false)) || $good;
		if (!$good)
			throw new SignatureException('webhook-signature is of another key, id, time or body');
		if (abs(($now ?? time()) - (int)$time) > $toleranceS)
			throw new SignatureException("webhook-timestamp $time is more than $toleranceS s off");
		return new Verified($kind[1], $id, (int)$time);
	}

	private static function mac(string $algorithm, string $key, string $data): string
	{
		$hash = self::HASHES[$algorithm]
			?? throw new \InvalidArgumentException("unknown algorithm $algorithm");
		/* Anyone can sign with an empty key. */
		$key !== '' || throw new \InvalidArgumentException('the key is empty');
		return hash_hmac($hash, $data, $key, true);
	}

	/*
	 * Whether $text is one of the MACs in base64 or, with $hex, in hex of either case. Compares with every one,
	 * so that the time does not show which key matched. A text is compared, not its bytes: base64 has several
	 * spellings of the same bytes, and only one is valid.
	 */
	private static function matches(string $text, array $macs, bool $hex): bool
	{
		$good = false;
		foreach ($macs as $mac) {
			$good = hash_equals(base64_encode($mac), $text) || $good;
			$good = ($hex && hash_equals(bin2hex($mac), strtolower($text))) || $good;
		}
		return $good;
	}

	private static function header(array $headers, string $wanted): ?string
	{
		foreach ($headers as $name => $value) {
			if (strcasecmp((string)$name, $wanted) !== 0)
				continue;
			$values = (array)$value;
			if (count($values) !== 1)
				throw new SignatureException("$wanted is there " . count($values) . ' times');
			return (string)reset($values);
		}
		return null;
	}
}
