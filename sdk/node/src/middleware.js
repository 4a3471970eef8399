/*
 * Middleware for Express, Connect and plain node:http. It reads the raw body itself, so it stands before
 * any express.json().
 */
import { parseCallback, CallbackError } from './callback.js';
import { SignatureError, verify } from './signature.js';

const BODY_MAX = 262144; // no callback is larger

function read(request) {
	// Kept by another middleware, such as express.raw() or one of your own.
	for (const kept of [request.rawBody, request.body]) {
		if (kept instanceof Uint8Array)
			return Promise.resolve(kept);
	}
	if (request.readableEnded || request.readableDidRead)
		return Promise.reject(new Error('the body was read before: mount callbacks() before ' +
			'express.json(), or keep the raw bytes as request.rawBody'));
	return new Promise((resolve, reject) => {
		const pieces = [];
		let length = 0;

		request.on('data', (piece) => {
			length += piece.length;
			if (length <= BODY_MAX)
				pieces.push(piece);
		});
		request.on('end', () => length <= BODY_MAX ? resolve(Buffer.concat(pieces))
			: reject(new CallbackError(413, 'payload_too_large', 'the body is too large')));
		request.on('error', reject);
		request.on('aborted', () => reject(new Error('the connection was cut')));
	});
}

function refuse(response, status, id, detail) {
	response.statusCode = status;
	response.setHeader('Content-Type', 'application/json');
	response.end(JSON.stringify({ id, detail }));
}

/*
 * Verifies and parses a callback into request.callback = {kind, body, webhook_id, webhook_timestamp}, and
 * keeps its bytes in request.rawBody. A callback that is not verified or not of this path is refused, and
 * your handler does not run. Options: those of verify(), and `kind`, by default the last part of the path.
 */
export function callbacks({ kind, onRefused = () => {}, ...options }) {
	return async (request, response, next) => {
		try {
			const raw = await read(request);
			const verified = verify(raw, request.headers, options);
			const path = (request.originalUrl ?? request.url).split('?')[0];
			const wanted = kind ?? path.slice(path.lastIndexOf('/') + 1);
			if (verified.kind !== null && verified.kind !== wanted)
				throw new CallbackError(400, 'bad_request', 'webhook-id: is not of this callback');
			const body = parseCallback(wanted, raw);
			request.rawBody = raw;
			request.callback = { ...verified, kind: wanted, body };
		} catch (error) {
			onRefused(error, request);
			if (error instanceof SignatureError)
				return refuse(response, 401, 'invalid_signature', 'the signature is not valid');
			if (error instanceof CallbackError)
				return refuse(response, error.status, error.id, error.detail);
			return next(error);
		}
		return next();
	};
}
