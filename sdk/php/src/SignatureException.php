<?php

declare(strict_types=1);

namespace Creditbridge;

/* The callback is not to be trusted. The message is for your log; the answer must not show it. */
final class SignatureException extends \RuntimeException
{
}
