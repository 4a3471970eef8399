<?php

declare(strict_types=1);

namespace Creditbridge;

use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Server\MiddlewareInterface;
use Psr\Http\Server\RequestHandlerInterface;

/*
 * PSR-15: verifies and parses a callback over its raw body. The handler finds a Callback in the request's
 * attribute Callback::class. A callback that is not verified or not of this path does not reach it.
 */
final class CallbackMiddleware implements MiddlewareInterface
{
	private const BODY_MAX = 262144; /* no callback is larger */

	/*
	 * $keys: your live keys. $kind: null takes the last part of the path. $onRefused gets each refusal's
	 * exception, for your log.
	 */
	public function __construct(
		private array $keys,
		private ResponseFactoryInterface $responses,
		private StreamFactoryInterface $streams,
		private ?string $kind = null,
		private string $algorithm = 'hmac-sha256',
		private int $toleranceS = 300,
		private bool $requireWebhook = true,
		private ?\Closure $onRefused = null,
	) {}

	public function process(ServerRequestInterface $request, RequestHandlerInterface $handler): ResponseInterface
	{
		try {
			$raw = $this->read($request);
			$verified = Signature::verify($raw, $request->getHeaders(), $this->keys, $this->algorithm,
				$this->toleranceS, null, $this->requireWebhook);
			$path = $request->getUri()->getPath();
			$kind = $this->kind ?? substr($path, (int)strrpos("/$path", '/'));
			$callback = Callback::parse($kind, $raw, $verified);
		} catch (SignatureException $error) {
			return $this->refuse($error, 401, 'invalid_signature', 'the signature is not valid');
		} catch (CallbackException $error) {
			return $this->refuse($error, $error->status, $error->id, $error->detail);
		}
		return $handler->handle($request->withAttribute(Callback::class, $callback)
			->withParsedBody($callback->body));
	}

	private function read(ServerRequestInterface $request): string
	{
		$body = $request->getBody();
		if ($body->isSeekable())
			$body->rewind();
		$raw = '';
		while (!$body->eof() && strlen($raw) <= self::BODY_MAX)
			$raw .= $body->read(65536);
		if (strlen($raw) > self::BODY_MAX)
			throw new CallbackException(413, 'payload_too_large', 'the body is too large');
		if ($body->isSeekable())
			$body->rewind();
		return $raw;
	}

	private function refuse(\Throwable $error, int $status, string $id, string $detail): ResponseInterface
	{
		if ($this->onRefused)
			($this->onRefused)($error);
		return $this->responses->createResponse($status)->withHeader('Content-Type', 'application/json')
			->withBody($this->streams->createStream(json_encode(['id' => $id, 'detail' => $detail])));
	}
}
