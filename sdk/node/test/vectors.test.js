import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { amount, callbacks, decide, decode, parseCallback, sign, SignatureError, units, verify }
	from '../src/index.js';

const VECTORS = JSON.parse(readFileSync(process.env.CREDITBRIDGE_VECTORS ??
	new URL('../../../doc/signature-vectors.json', import.meta.url)));
const [WEBHOOK] = VECTORS.webhook;
const NOW = WEBHOOK.timestamp;

function headersOf(row) {
	return { 'x-casino-signature': row['x-casino-signature'], 'webhook-id': row.id,
		'webhook-timestamp': String(row.timestamp), 'webhook-signature': row['webhook-signature'] };
}

test('the signature vectors', () => {
	assert.ok(VECTORS.vectors.length > 15 && VECTORS.other_schemes.length === 5);
	for (const row of VECTORS.vectors) {
		const body = Buffer.concat(Array(row.times).fill(Buffer.from(row.body_base64, 'base64')));
		assert.equal(sign(row.key, body), row.signature, row.name);
		for (const text of [row.signature, row.signature.toUpperCase(),
			Buffer.from(row.signature, 'hex').toString('base64')])
			verify(body, { 'X-Casino-Signature': text }, { keys: row.key, requireWebhook: false });
	}
	for (const { key, body, signature, algorithm, encoding } of VECTORS.other_schemes) {
		assert.equal(sign(key, body, { algorithm, encoding }), signature);
		verify(Buffer.from(body), { 'x-casino-signature': signature },
			{ keys: [key], algorithm, requireWebhook: false });
	}
});

test('the vectors of refused spellings', () => {
	for (const { about, key, body, signature, algorithm } of VECTORS.refused ?? [])
		assert.throws(() => verify(body, { 'x-casino-signature': signature },
			{ keys: key, algorithm, requireWebhook: false }), SignatureError, about);
});

test('the vectors of webhooks, with each key', () => {
	for (const row of VECTORS.webhook) {
		for (const keys of [row.keys, [...row.keys].reverse(), row.keys[0]])
			assert.deepEqual(verify(Buffer.from(row.body), headersOf(row), { keys, now: NOW }),
				{ kind: 'betting', webhook_id: row.id, webhook_timestamp: row.timestamp });
		verify(row.body, new Headers(headersOf(row)), { keys: row.keys, now: NOW });
	}
});

test('what is refused', () => {
	const headers = headersOf(WEBHOOK);
	const options = { keys: WEBHOOK.keys, now: NOW };
	const refused = (change, reason, body = WEBHOOK.body, more = {}) => assert.throws(
		() => verify(body, { ...headers, ...change }, { ...options, ...more }),
		(error) => error instanceof SignatureError && error.reason.includes(reason));
	verify(WEBHOOK.body, headers, { ...options, now: NOW + 300 });
	verify(WEBHOOK.body, headers, { ...options, now: NOW - 300 });
	refused({}, '300 s off', WEBHOOK.body, { now: NOW + 301 });
	refused({}, '300 s off', WEBHOOK.body, { now: NOW - 301 });
	refused({}, 'other bytes', WEBHOOK.body + '\n');
	refused({}, 'another key', WEBHOOK.body, { keys: 'f'.repeat(64) });
	refused({ 'x-casino-signature': undefined }, 'missing');
	refused({ 'x-casino-signature': ['a', 'b'] }, '2 times');
	const base64 = Buffer.from(headers['x-casino-signature'], 'hex').toString('base64');
	verify(WEBHOOK.body, { ...headers, 'x-casino-signature': base64 }, options);
	// Other spellings of base64: without padding, with a bit that no encoder sets, with a line break.
	for (const text of ['', headers['x-casino-signature'].slice(0, 62), `${headers['x-casino-signature']}, x`,
		base64.slice(0, -1), base64.replace(/(.)=$/, (_, last) => String.fromCharCode(last.charCodeAt(0) + 1) + '='),
		`${base64}\n`, `${headers['x-casino-signature']}\n`])
		refused({ 'x-casino-signature': text }, 'x-casino-signature');
	for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
		refused({ [name]: undefined }, 'webhook header');
	refused({ 'webhook-id': 'betting-18' }, 'webhook-signature');
	refused({ 'webhook-timestamp': String(NOW + 1) }, 'webhook-signature');
	refused({ 'webhook-signature': 'v2,' + headers['webhook-signature'].slice(3) }, 'webhook-signature');
	refused({ 'webhook-signature': headers['webhook-signature'].slice(0, -1) }, 'webhook-signature');
	refused({ 'webhook-timestamp': '' }, 'malformed');
	assert.throws(() => verify(JSON.parse(WEBHOOK.body), headers, options), TypeError);
	assert.throws(() => sign('', ''), TypeError);
});

test('money', () => {
	for (const [text, count, canonical] of [['0', 0, '0'], ['12.50', 125000, '12.5'], ['0.0001', 1, '0.0001'],
		['99999999999.9999', 999999999999999, '99999999999.9999'], ['1e2', 1000000, '100'],
		['-3.25', -32500, '-3.25'], ['1.0000000', 10000, '1'], ['120e-1', 120000, '12']]) {
		assert.equal(units(text), count, text);
		assert.equal(amount(count), canonical, text);
	}
	for (const text of ['', '1.', '.5', '1,5', '0.00001', '100000000000', '1e99', ' 1', '0x1', 'NaN'])
		assert.throws(() => units(text), RangeError, text);
	assert.throws(() => units(0.3), TypeError);
	assert.throws(() => amount(0.5), RangeError);
	const odd = '{"bet_amount":0.30,"user_bet":{"bet_amount":1.10,"x":12345678901234567890},' +
		'"bets":[{"bet_amount":1e1}],"remark":"5 \\" 6.50","balance":null,"transaction_id":9007199254740991}';
	assert.deepEqual(decode(odd), { bet_amount: '0.3', user_bet: { bet_amount: 1.1, x: 12345678901234567000 },
		bets: [{ bet_amount: '10' }], remark: '5 " 6.50', balance: null, transaction_id: 9007199254740991 });
	assert.throws(() => decode('[1]'), SyntaxError);
	assert.throws(() => parseCallback('betting', WEBHOOK.body.replace('"bet_amount":10', '"bet_amount":"10a"')));
});

test('a body of another callback', async () => {
	assert.equal(parseCallback('betting', WEBHOOK.body).bet_amount, '10');
	assert.throws(() => parseCallback('betting-refund', WEBHOOK.body), /of another callback/);
	assert.throws(() => parseCallback('betting-result', WEBHOOK.body), /result/);
	assert.throws(() => parseCallback('constructor', WEBHOOK.body), { status: 404 });
	// The same by webhook-id: a refund's body is one that a bet's path could take otherwise.
	const through = async (path) => {
		const response = { setHeader() {}, end(text) { this.text = text; } };
		const request = { rawBody: Buffer.from(WEBHOOK.body), headers: headersOf(WEBHOOK), url: path };
		await callbacks({ keys: WEBHOOK.keys, now: NOW, kind: path === '/any' ? 'betting' : undefined })(
			request, response, () => { response.text = request.callback.kind; });
		return response.text;
	};
	assert.equal(await through('/x/betting?y'), 'betting');
	assert.equal(await through('/any'), 'betting');
	assert.match(await through('/balance-inquire'), /webhook-id/);
});

test('a decrease', () => {
	const text = '{"user_id":"alice","player_id":"p","game_id":"g","transaction_id":19,"correction_amount":-21.50,' +
		'"previous_payout_amount":21.5,"payout_amount":0,"revision":1,"remark":"","timestamp":1}';
	const body = parseCallback('betting-correction', text);
	assert.deepEqual([body.correction_amount, body.revision], ['-21.5', 1]);
	for (const bad of [text.replace('-21.50', '21.5'), text.replace('"revision":1', '"result":"win"'),
		text.replace('"remark"', '"bet_amount":1,"remark"')])
		assert.throws(() => parseCallback('betting-correction', bad), { status: 400 });
	const callback = { kind: 'betting-correction', body };
	const made = decide(callback, undefined, 40000, 'thb');
	assert.deepEqual([made.status, JSON.parse(made.json), made.balance],
		[200, { user_id: 'alice', balance: 0, currency: 'thb', shortfall: 17.5 }, 0]);
	// A repeated call is answered the same shortfall, and moves nothing, whatever the player has by now.
	const again = decide(callback, made.row, 900000, 'thb');
	assert.deepEqual([JSON.parse(again.json).shortfall, again.row, again.balance], [17.5, undefined, undefined]);
	const enough = decide(callback, undefined, 300000, 'thb');
	assert.deepEqual([JSON.parse(enough.json).shortfall, enough.balance], [0, 85000]);
	assert.equal(decide(callback, { ...made.row, amount: 1 }, 0, 'thb').status, 409);
	assert.equal(decide(callback, { ...made.row, state: 'bet' }, 0, 'thb').status, 409);
	assert.equal(decide(callback, undefined, undefined, 'thb').status, 404);
});
