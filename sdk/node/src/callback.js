/*
 * What arrives: a body of one of the callbacks, and what must be in it.
 */
import { decode } from './money.js';

const PLAYER = { user_id: 'id', player_id: 'id' };
const GAME = { ...PLAYER, game_id: 'id', remark: 'string', transaction_id: 'integer', timestamp: 'integer',
	bet_amount: 'amount' };
// Members that must be there. Others are ignored: there may be new ones.
const MEMBERS = {
	'balance-inquire': PLAYER,
	'betting': { ...GAME, user_bet: 'object' },
	'betting-result': { ...GAME, result: 'string', payout_amount: 'amount' },
	'betting-refund': GAME,
	'betting-correction': { ...PLAYER, game_id: 'id', remark: 'string', transaction_id: 'integer',
		timestamp: 'integer', correction_amount: 'decrease', previous_payout_amount: 'amount',
		payout_amount: 'amount', revision: 'integer' },
};
/*
 * Members that must not be there, because they show a body of another callback. x-casino-signature covers
 * only the body, so an attacker that saw a bet could send it to the path of refunds.
 */
const FOREIGN = { 'balance-inquire': [], 'betting': ['result'], 'betting-result': [],
	'betting-refund': ['result', 'user_bet'], 'betting-correction': ['result', 'bet_amount'] };
const RESULTS = ['win', 'loss', 'refund'];
const TYPES = {
	id: (value) => typeof value === 'string' && Buffer.byteLength(value) >= 1 &&
		Buffer.byteLength(value) <= 128,
	string: (value) => typeof value === 'string',
	integer: (value) => Number.isSafeInteger(value) && value >= 0,
	amount: (value) => typeof value === 'string' && /^[0-9]/.test(value),
	decrease: (value) => typeof value === 'string' && value.startsWith('-'),
	object: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
};

// Becomes an error body {id, detail} with the HTTP status `status`.
export class CallbackError extends Error {
	constructor(status, id, detail) {
		super(detail);
		this.name = 'CallbackError';
		this.status = status;
		this.id = id;
		this.detail = detail;
	}
}

function bad(detail) {
	return new CallbackError(400, 'bad_request', detail);
}

/*
 * The body of a verified callback of @kind, an object. Its amounts are text. Throws a CallbackError (400)
 * if it is not such a body.
 */
export function parseCallback(kind, rawBody) {
	if (!Object.hasOwn(MEMBERS, kind))
		throw new CallbackError(404, 'not_found', `there is no callback ${kind}`);
	let body;
	try {
		body = decode(typeof rawBody === 'string' ? rawBody
			: new TextDecoder('utf-8', { fatal: true }).decode(rawBody));
	} catch (error) {
		throw bad(error instanceof RangeError ? error.message : 'the body is not a JSON object');
	}
	for (const [name, type] of Object.entries(MEMBERS[kind])) {
		if (!TYPES[type](body[name]))
			throw bad(`${name}: must be there, as ${type}`);
	}
	for (const name of FOREIGN[kind]) {
		if (Object.hasOwn(body, name))
			throw bad('the body is of another callback');
	}
	if (kind === 'betting-result' && !RESULTS.includes(body.result))
		throw bad('result: must be win, loss or refund');
	if (kind !== 'balance-inquire' && body.result !== 'loss' && body.transaction_id === 0)
		throw bad('transaction_id: must not be 0');
	return body;
}
