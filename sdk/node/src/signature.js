/*
 * Signatures of both directions. The signed bytes are the raw body, and the key's 64 characters are the
 * key: they look like hex and are not decoded.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const HASHES = { 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512', 'hmac-sha1': 'sha1' };

// The callback is not to be trusted. `reason` is for your log; the answer must not show it.
export class SignatureError extends Error {
	constructor(reason) {
		super(`the callback is not verified: ${reason}`);
		this.name = 'SignatureError';
		this.reason = reason;
	}
}

function mac(algorithm, key, ...parts) {
	if (!Object.hasOwn(HASHES, algorithm))
		throw new TypeError(`unknown algorithm ${algorithm}`);
	// Anyone can sign with an empty key.
	if (typeof key !== 'string' || key === '')
		throw new TypeError('a key is a string that is not empty');
	const hmac = createHmac(HASHES[algorithm], key);
	for (const part of parts)
		hmac.update(part);
	return hmac.digest();
}

// The value of x-casino-signature for the bytes @body. A string is signed as UTF-8.
export function sign(key, body, { algorithm = 'hmac-sha256', encoding = 'hex' } = {}) {
	if (encoding !== 'hex' && encoding !== 'base64')
		throw new TypeError(`unknown encoding ${encoding}`);
	return mac(algorithm, key, body).toString(encoding);
}

function equal(text, wanted) {
	const [found, made] = [Buffer.from(text), Buffer.from(wanted)];
	return found.length === made.length && timingSafeEqual(found, made);
}

/*
 * Whether @text is one of the MACs in an encoding of @encodings; hex may be of either case. Compares with
 * every one, so that the time does not show which key matched. A text is compared, not its bytes: base64 has
 * several spellings of the same bytes, and only one is valid.
 */
function matches(text, macs, encodings) {
	let good = false;
	for (const made of macs) {
		for (const encoding of encodings)
			good = equal(encoding === 'hex' ? text.toLowerCase() : text, made.toString(encoding)) || good;
	}
	return good;
}

// One header of Node's headers object or of a Headers object; undefined: absent.
function header(headers, name) {
	const value = typeof headers.get === 'function' ? headers.get(name)
		: headers[name] ?? headers[Object.keys(headers).find((key) => key.toLowerCase() === name)];
	if (Array.isArray(value)) {
		if (value.length !== 1)
			throw new SignatureError(`${name} is there ${value.length} times`);
		return value[0];
	}
	return value ?? undefined;
}

/*
 * Verifies x-casino-signature, and by the webhook headers the id and the time of the attempt. Each of
 * your live keys may have signed. Returns {kind, webhook_id, webhook_timestamp}, or throws a
 * SignatureError. With requireWebhook: false, a callback without any webhook header is accepted and
 * returns nulls; its time and its kind are then not protected.
 */
export function verify(rawBody, headers, {
	keys, algorithm = 'hmac-sha256', toleranceS = 300, now = Date.now() / 1000, requireWebhook = true,
}) {
	const all = typeof keys === 'string' ? [keys] : keys;
	if (!Array.isArray(all) || all.length === 0)
		throw new TypeError('keys: one key, or an array of keys');
	if (!(rawBody instanceof Uint8Array) && typeof rawBody !== 'string')
		throw new TypeError('rawBody: the bytes that arrived, before anything parsed them');
	const signature = header(headers, 'x-casino-signature');
	if (signature === undefined)
		throw new SignatureError('x-casino-signature is missing');
	if (!matches(signature, all.map((key) => mac(algorithm, key, rawBody)), ['hex', 'base64']))
		throw new SignatureError('x-casino-signature is of another key or of other bytes');
	const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
		.map((name) => header(headers, name));
	if (!requireWebhook && id === undefined && time === undefined && signatures === undefined)
		return { kind: null, webhook_id: null, webhook_timestamp: null };
	if (id === undefined || time === undefined || signatures === undefined)
		throw new SignatureError('a webhook header is missing');
	const kind = /^([a-z]+(?:-[a-z]+)*)-[0-9]{1,20}$/.exec(id);
	if (!kind || !/^[0-9]{1,12}$/.test(time))
		throw new SignatureError('webhook-id or webhook-timestamp is malformed');
	// Standard Webhooks: always SHA-256; of several signatures and keys one pair must match.
	const macs = all.map((key) => mac('hmac-sha256', key, `${id}.${time}.`, rawBody));
	const good = signatures.split(' ').filter((one) => one.startsWith('v1,'))
		.reduce((found, one) => matches(one.slice(3), macs, ['base64']) || found, false);
	if (!good)
		throw new SignatureError('webhook-signature is of another key, id, time or body');
	if (Math.abs(now - Number(time)) > toleranceS)
		throw new SignatureError(`webhook-timestamp ${time} is more than ${toleranceS} s off`);
	return { kind: kind[1], webhook_id: id, webhook_timestamp: Number(time) };
}
