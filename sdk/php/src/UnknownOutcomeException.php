<?php

declare(strict_types=1);

namespace Creditbridge;

/* The outcome is not known: make the same call later, with the same request_transaction_id. */
final class UnknownOutcomeException extends \RuntimeException
{
	public function __construct(public readonly int $attempts, ?\Throwable $cause)
	{
		parent::__construct("the outcome is not known after $attempts attempts: " .
			($cause?->getMessage() ?? 'no answer'), 0, $cause);
	}
}
