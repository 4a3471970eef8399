<?php

declare(strict_types=1);

namespace Creditbridge;

/* Becomes an error body {id, detail} with the HTTP status $status. */
final class CallbackException extends \RuntimeException
{
	public function __construct(
		public readonly int $status,
		public readonly string $id,
		public readonly string $detail,
	) {
		parent::__construct($detail);
	}
}
