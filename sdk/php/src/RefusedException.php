<?php

declare(strict_types=1);

namespace Creditbridge;

/*
 * The wallet refused this call: it moved nothing. Record a transfer as failed only if $conclusive is true;
 * otherwise an earlier call with the same request_transaction_id may have moved credit.
 */
final class RefusedException extends \RuntimeException
{
	/* They say nothing about an earlier call with the same id. See the guide, "What to repeat". */
	public const ONLY_THIS_CALL = [401, 403, 429];

	public readonly string $id;
	public readonly bool $conclusive;

	/* $body: the members of the error body; null: the answer was none. */
	public function __construct(public readonly int $status, public readonly ?array $body)
	{
		$known = is_string($body['id'] ?? null);
		$this->id = $known ? $body['id'] : "http_$status";
		/* A request_id "none", or none at all: the answer is of a web server on the way. */
		$this->conclusive = $known && is_string($body['request_id'] ?? null) &&
			$body['request_id'] !== 'none' && !in_array($status, self::ONLY_THIS_CALL, true) &&
			$this->id !== 'transaction_conflict';
		$detail = $body['detail'] ?? null;
		parent::__construct("$this->id: " . (is_string($detail) ? $detail : "status $status"));
	}
}
