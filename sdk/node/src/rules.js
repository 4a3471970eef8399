/*
 * What a seamless dealer does with a callback, by the state of the row that it has for its transaction_id.
 * Pure: you read and store row and balance, both in one transaction of your database.
 */
import { amount, units } from './money.js';

/*
 * One id moves credit once, and each callback may come any number of times, late, and in any order. A
 * tombstone is a refund that came before its bet: that bet is refused. A bet above the balance stays
 * refused: the platform has rejected it, so only an attacker sends it again.
 */
const RULES = {
	/*           betting      betting-result  betting-refund  betting-correction */
	none:      ['debit',      'credit',       'bury',         'take'],
	bet:       ['success',    'conflict',     'return',       'conflict'],
	refunded:  ['refunded',   'conflict',     'success',      'conflict'],
	tombstone: ['refunded',   'conflict',     'success',      'conflict'],
	paid:      ['conflict',   'success',      'conflict',     'conflict'],
	refused:   ['no credit',  'conflict',     'success',      'conflict'],
	corrected: ['conflict',   'conflict',     'conflict',     'success'],
};
const KINDS = ['betting', 'betting-result', 'betting-refund', 'betting-correction'];
const AMOUNTS = ['bet_amount', 'payout_amount', 'bet_amount', 'correction_amount'];
const NEXT = { debit: 'bet', credit: 'paid', bury: 'tombstone', return: 'refunded' };
const FACTOR = { debit: -1, credit: 1, bury: 0, return: 1 };
const REFUSALS = {
	'refunded': [409, 'bet_refunded', 'the bet was refunded'],
	'no credit': [402, 'insufficient_balance', 'the balance is lower than the bet'],
	'conflict': [409, 'transaction_conflict', 'the transaction_id has other content'],
	'no player': [404, 'user_not_found', 'the user is not known'],
};

function refuse(why, row) {
	const [status, id, detail] = REFUSALS[why];
	return { status, json: JSON.stringify({ id, detail }), row, balance: undefined };
}

function answer(body, balance, currency, changed, shortfall) {
	// The digits are written as they are. JSON.stringify() would need a float.
	const more = shortfall === undefined ? '' : `,"shortfall":${amount(shortfall)}`;
	const json = balance === undefined ? '{}' : `{"user_id":${JSON.stringify(body.user_id)},` +
		`"balance":${amount(balance)},"currency":${JSON.stringify(currency)}${more}}`;
	return { status: 200, json, row: undefined, balance: undefined, ...changed };
}

// A decrease takes what is there. The rest is the shortfall, which a repeated call is answered again.
function take(body, balance, currency, wanted) {
	const shortfall = Math.max(wanted.amount - balance, 0);
	const after = balance - wanted.amount + shortfall;
	return answer(body, after, currency, { row: { ...wanted, state: 'corrected', shortfall }, balance: after },
		shortfall);
}

function same(row, wanted) {
	return ['user_id', 'game_id', 'amount', 'result'].every((name) => row[name] === wanted[name]);
}

/*
 * @row: what you have stored for the transaction_id, or undefined. @balance: the player's, in
 * ten-thousandths; undefined: you have no such player. Returns {status, json, row, balance}: store row and
 * balance unless they are undefined, commit, and only then answer @json with @status.
 */
export function decide({ kind, body }, row, balance, currency) {
	if (balance === undefined && kind !== 'betting-refund')
		return refuse('no player');
	// A loss has the transaction_id 0 and moves nothing.
	if (kind === 'balance-inquire' || body.result === 'loss')
		return answer(body, balance, currency);
	const moved = Math.abs(units(body[AMOUNTS[KINDS.indexOf(kind)]]));
	const wanted = { user_id: body.user_id, game_id: body.game_id, amount: moved,
		result: body.result ?? '' };
	const action = RULES[row?.state ?? 'none'][KINDS.indexOf(kind)];
	if (action === 'conflict' || (row && !same(row, wanted)))
		return refuse('conflict');
	if (action === 'success')
		return answer(body, balance, currency, {},
			kind === 'betting-correction' ? Number(row.shortfall) : undefined);
	if (action === 'take')
		return take(body, balance, currency, wanted);
	if (!Object.hasOwn(NEXT, action))
		return refuse(action);
	if (balance === undefined && action === 'return')
		return refuse('no player');
	const after = balance === undefined ? undefined : balance + FACTOR[action] * moved;
	if (after < 0)
		return refuse('no credit', { ...wanted, state: 'refused' });
	return answer(body, after, currency, { row: { ...wanted, state: NEXT[action] },
		balance: action === 'bury' ? undefined : after });
}
