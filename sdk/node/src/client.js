/*
 * A dealer's calls to the wallet. A transfer is repeated with the same bytes, and so with the same
 * request_transaction_id, which the wallet recognises: credit moves once.
 */
import { amount, decode, units } from './money.js';
import { sign } from './signature.js';

const TRANSFER = '/wallet-service/credit/transfer-';
const BALANCE = '/user-service/user/3rdparty-get-balance';
const STAT = '/user-service/user/stat';
const RESULT = '/game-service/bet_game/result-inquire';
const INQUIRE = '/wallet-service/credit/transfer-inquire';
const FEED = '/wallet-service/feed';
const HISTORY = '/wallet-service/history';
const CALLBACKS = '/wallet-service/callbacks';
const ANSWER_MAX = 4194304;
const RETRY_AFTER_MAX_S = 30;
// They say nothing about an earlier call with the same id. See the guide, "What to repeat".
const ONLY_THIS_CALL = [401, 403, 429];

/*
 * The wallet refused this call: it moved nothing. `id`, `status` and `body` are of the error body. Record a
 * transfer as failed only if `conclusive` is true; otherwise an earlier call with the same
 * request_transaction_id may have moved credit.
 */
export class RefusedError extends Error {
	constructor(status, body) {
		const id = typeof body?.id === 'string' ? body.id : `http_${status}`;
		super(`${id}: ${body?.detail ?? `status ${status}`}`);
		this.name = 'RefusedError';
		this.status = status;
		this.id = id;
		this.body = body;
		this.request_id = body?.request_id;
		// A request_id "none", or none at all: the answer is of a web server on the way.
		this.conclusive = id === body?.id && typeof body.request_id === 'string' &&
			body.request_id !== 'none' && !ONLY_THIS_CALL.includes(status) &&
			id !== 'transaction_conflict';
	}
}

// The outcome is not known: make the same call later, with the same request_transaction_id.
export class UnknownOutcomeError extends Error {
	constructor(attempts, cause) {
		super(`the outcome is not known after ${attempts} attempts: ${cause?.message ?? cause}`, { cause });
		this.name = 'UnknownOutcomeError';
		this.attempts = attempts;
	}
}

function object(text) {
	try {
		return decode(text);
	} catch {
		return null;
	}
}

async function textOf(response) {
	const pieces = [];
	let length = 0;

	for await (const piece of response.body ?? []) {
		length += piece.length;
		if (length > ANSWER_MAX)
			throw new Error('the answer is too large');
		pieces.push(piece);
	}
	return Buffer.concat(pieces).toString();
}

// An integer is of ten-thousandths. The digits are sent as they are.
function amountText(value) {
	return typeof value === 'number' ? amount(value) : amount(units(value));
}

function required(name, value) {
	if (typeof value !== 'string' || value === '')
		throw new TypeError(`${name}: a string that is not empty`);
	return value;
}

export class Client {
	constructor({ baseUrl, casinoId, key, algorithm = 'hmac-sha256', encoding = 'hex', attempts = 5,
		timeoutMs = 10000, fetch = globalThis.fetch,
		wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms)) }) {
		this.baseUrl = required('baseUrl', baseUrl).replace(/\/+$/, '');
		this.casinoId = required('casinoId', casinoId);
		this.signing = { key: required('key', key), algorithm, encoding };
		this.attempts = attempts;
		this.timeoutMs = timeoutMs;
		this.fetch = fetch;
		this.wait = wait;
	}

	// Credit into the platform. Note the request_transaction_id in your database before the call.
	transferIn(transfer) {
		return this.#transfer('in', transfer);
	}

	// Credit out of the platform; with `all: true` and no amount the player's whole credit.
	transferOut(transfer) {
		return this.#transfer('out', transfer);
	}

	/*
	 * What became of a transfer: `state` is done (with `transfer`), refused (with `error`), sealed or unknown.
	 * With seal: true an unknown id is sealed: no transfer can use it any more, so the answer is final.
	 */
	transferInquire(request_transaction_id, { seal } = {}) {
		return this.#read(INQUIRE, { request_transaction_id, seal });
	}

	/*
	 * The transactions after the id `after`: {items, next, complete}; `next` is the next call's `after`. Waits
	 * up to wait_ms for one. Unless `complete` is true, continue at once.
	 */
	feed({ after = 0, limit = 100, wait_ms = 0 } = {}) {
		return this.#read(FEED, { after, limit, wait_ms }, { timeoutMs: this.timeoutMs + wait_ms });
	}

	// As feed(), of one player, the newest first.
	history(user_id, { after = 0, limit = 100 } = {}) {
		return this.#read(HISTORY, { user_id, after, limit });
	}

	// Your callbacks that are not delivered: state is 'parked' or 'due'.
	callbacks({ state = 'parked', after = 0, limit = 100 } = {}) {
		return this.#read(CALLBACKS, { state, after, limit });
	}

	/*
	 * Lets a parked or due callback be sent once more now. A RefusedError (429, rate_limited) if it was in the
	 * last 5 minutes; that is not repeated.
	 */
	resend(webhook_id) {
		return this.#call(`${CALLBACKS}/resend`, () => JSON.stringify({ webhook_id }), { once: [429] });
	}

	balance(user_id) {
		return this.#read(BALANCE, { user_id });
	}

	// With include_data: ['bet_summary'] also 30 days, one row each.
	stat(user_id, { include_data } = {}) {
		return this.#read(STAT, { user_id, include_data });
	}

	resultInquire(user_id, game_id) {
		return this.#call(RESULT, () => JSON.stringify({ user_id, game_id }));
	}

	async #transfer(direction, { amount: value, all, request_transaction_id, user_id }) {
		if (all && (value !== undefined || direction !== 'out'))
			throw new TypeError('all: only of a transfer out, and without an amount');
		// Built once: every attempt sends the same bytes.
		const body = `{${all ? '"all":true' : `"amount":${amountText(value)}`},"request_transaction_id":` +
			`${JSON.stringify(required('request_transaction_id', request_transaction_id))},` +
			`"user_id":${JSON.stringify(required('user_id', user_id))}}`;
		return this.#call(TRANSFER + direction, () => body, { isTransfer: true });
	}

	// A read is repeated with the time of its attempt. POST, because fetch() refuses a GET with a body.
	#read(path, members, options) {
		return this.#call(path, () => JSON.stringify({ ...members, request_timestamp: Date.now() }), options);
	}

	async #send(path, body, timeoutMs) {
		const { key, ...scheme } = this.signing;
		const response = await this.fetch(this.baseUrl + path, {
			method: 'POST',
			body,
			redirect: 'manual',
			signal: AbortSignal.timeout(timeoutMs),
			headers: {
				'Content-Type': 'application/json',
				'x-casino-id': this.casinoId,
				'x-casino-signature': sign(key, body, scheme),
			},
		});
		return { status: response.status, headers: response.headers, body: object(await textOf(response)) };
	}

	// Repeats after no answer, a 5xx, 429 and what is no answer of the wallet; nothing else. A status in
	// `once` is not repeated.
	async #call(path, makeBody, { timeoutMs = this.timeoutMs, once = [], isTransfer = false } = {}) {
		let attempt = 0, cause, delayMs, unknown = false;

		while (attempt < this.attempts) {
			if (attempt)
				await this.wait(delayMs);
			// With jitter, so that many callers do not come back at the same moment.
			delayMs = 1000 * 2 ** Math.min(attempt++, 4) * (1 + Math.random() / 4);
			try {
				const { status, headers, body } = await this.#send(path, makeBody(), timeoutMs);
				if (status === 200 && body)
					return isTransfer
						? { ...body, replayed: headers.get('x-idempotent-replay') === 'true' } : body;
				cause = new RefusedError(status, body);
				const refused = status >= 400 && status < 500 &&
					(status !== 429 || once.includes(status));
				if (refused && !(unknown && ONLY_THIS_CALL.includes(status)))
					throw cause;
				if (refused)
					break;
				unknown ||= status !== 429;
				const after = headers.get('retry-after') ?? '';
				if (/^[0-9]{1,9}$/.test(after))
					delayMs = 1000 * Math.min(Number(after), RETRY_AFTER_MAX_S);
			} catch (error) {
				if (error === cause)
					throw error;
				cause = error;
				unknown = true;
			}
		}
		throw new UnknownOutcomeError(attempt, cause);
	}
}
