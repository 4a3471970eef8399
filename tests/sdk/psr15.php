<?php
/* The two interfaces of PSR-15, which Debian 12 has no package of; composer brings psr/http-server-middleware. */
namespace Psr\Http\Server;

use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;

interface RequestHandlerInterface
{
	public function handle(ServerRequestInterface $request): ResponseInterface;
}

interface MiddlewareInterface
{
	public function process(ServerRequestInterface $request, RequestHandlerInterface $handler): ResponseInterface;
}
