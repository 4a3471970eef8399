<?php

declare(strict_types=1);

namespace Creditbridge;

/* What the headers of a verified callback say; nulls if it came without webhook headers. */
final class Verified
{
	public function __construct(
		public readonly ?string $kind,
		public readonly ?string $webhookId,
		public readonly ?int $webhookTimestamp,
	) {}
}
