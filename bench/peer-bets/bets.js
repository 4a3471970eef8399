// bets.js - bets, results and refunds as a Node service would have them: a peer that bench/peer_bets.py measures.
// A process for each processor; undici's pool keeps connections to the dealer, the driver's pool those to
// MariaDB. The first process repeats what is due.
//
//   bets.js PORT SOCKET DEALER_PORT CLIENT_KEY DEALER_KEY
'use strict';
const cluster = require('cluster');
const crypto = require('crypto');
const http = require('http');
const mysql = require('mysql');
const { Pool } = require('undici');

const [port, socketPath, dealerPort, clientKey, dealerKey] = process.argv.slice(2);
const TIMEOUT_MS = 3000;
const STATUSES = { unauthorized: 401, bad_request: 400, user_not_found: 404, bet_not_found: 404, not_found: 404,
	transaction_conflict: 409, already_settled: 409, bet_in_progress: 409, bet_rejected: 409,
	dealer_timeout: 504, internal_error: 500 };
const STATES = ['pending', 'accepted', 'rejected', 'refunding', 'refunded', 'settled'];
const RESULTS = ['win', 'loss', 'refund'];
const database = mysql.createPool({ socketPath, user: 'wallet', database: 'wallet', connectionLimit: 32 });
const dealer = new Pool(`http://127.0.0.1:${dealerPort}`, { connections: 256, connect: { timeout: 1000 } });

class Refusal extends Error {
	constructor(id, detail) {
		super(detail);
		this.id = id;
	}
}

function call(procedure, ...words) {
	const marks = words.map(() => '?').join(',');
	return new Promise((done, failed) => database.query(`CALL ${procedure}(${marks})`, words,
		(error, rows) => error ? failed(error) : done(Array.isArray(rows) ? rows[0] : [])));
}

function hmac(key, text, encoding) {
	return crypto.createHmac('sha256', key).update(text).digest(encoding);
}

// 'success', 'refused' or 'unknown'
async function ask(kind, id, fields) {
	const body = JSON.stringify(fields);
	const event = `${kind}-${id}`;
	const seconds = Math.floor(Date.now() / 1000);
	try {
		const answer = await dealer.request({ path: `/${kind}`, method: 'POST', body,
			signal: AbortSignal.timeout(TIMEOUT_MS),
			headers: { 'content-type': 'application/json', 'x-casino-signature': hmac(dealerKey, body, 'hex'),
				'webhook-id': event, 'webhook-timestamp': String(seconds),
				'webhook-signature': `v1,${hmac(dealerKey, `${event}.${seconds}.${body}`, 'base64')}` } });
		const text = await answer.body.text();
		if (answer.statusCode >= 200 && answer.statusCode < 300)
			return text === '' || typeof JSON.parse(text) === 'object' ? 'success' : 'unknown';
		return answer.statusCode >= 400 && answer.statusCode < 500 ? 'refused' : 'unknown';
	} catch (error) {
		return 'unknown';
	}
}

function textOf(body, name) {
	const value = body[name];
	if (typeof value !== 'string' || value === '' || value.length > 64)
		throw new Refusal('bad_request', `${name}: a text of 1 to 64 characters`);
	return value;
}

// Ten-thousandths, of an amount with at most two decimals.
function amountOf(value, least) {
	const amount = typeof value === 'number' ? Math.round(value * 10000) : -1;
	if (amount < least || amount > 999999999999999 || amount % 100 !== 0)
		throw new Refusal('bad_request', 'an amount is out of range');
	return amount;
}

function common(body) {
	return [textOf(body, 'request_transaction_id'), textOf(body, 'casino_id'), textOf(body, 'user_id'),
		textOf(body, 'game_id')];
}

function betAnswer(id, state) {
	if (state === 1 || state === 5)
		return { transaction_id: id, state: 'accepted' };
	throw new Refusal(['bet_in_progress', '', 'bet_rejected', 'dealer_timeout', 'dealer_timeout'][state],
		`the bet is ${STATES[state]}`);
}

async function bet(client, body) {
	const [request, casino, user, game] = common(body);
	const amount = amountOf(body.bet_amount, 100);
	const now = Date.now();
	const [row] = await call('bet_begin', client, request, casino, user, game, amount, now);
	if (row.refusal === 'replay')
		return betAnswer(row.id, row.state);
	if (row.refusal)
		throw new Refusal(row.refusal, 'the bet was refused');
	const outcome = await ask('betting', row.id, { user_id: user, player_id: row.player_id,
		bet_amount: amount / 10000, transaction_id: row.id, timestamp: now, remark: '', game_id: game });
	const [end] = await call('bet_end', row.id, { success: 1, refused: 2, unknown: 3 }[outcome],
		outcome === 'unknown' ? Date.now() + 1000 : null);
	return betAnswer(row.id, end.state);
}

function resultFields(row, amount, result, game, user) {
	return { user_id: user, player_id: row.player_id, bet_amount: row.staked / 10000, transaction_id: row.id,
		timestamp: row.at_ms, remark: '', result, game_id: game, payout_amount: amount / 10000 };
}

async function result(client, body) {
	const [request, casino, user, game] = common(body);
	if (!RESULTS.includes(body.result))
		throw new Refusal('bad_request', 'result: win, loss or refund');
	const payout = body.result === 'win' ? amountOf(body.payout_amount, 0) : 0;
	const now = Date.now();
	const [row] = await call('result_begin', client, request, casino, user, game, body.result, payout, now);
	if (row.refusal && row.refusal !== 'replay')
		throw new Refusal(row.refusal, 'the result was refused');
	let delivered = row.state === 1;
	if (!row.refusal) {
		row.at_ms = now;
		delivered = await ask('betting-result', row.id,
			resultFields(row, row.payout, body.result, game, user)) === 'success';
		await call('result_end', row.id, delivered ? 1 : 0, delivered ? null : Date.now() + 5000);
	}
	return { transaction_id: row.id, bet_amount: row.staked / 10000, payout_amount: row.payout / 10000,
		callback: { state: delivered ? 'delivered' : 'due' } };
}

const ROUTES = { '/platform/bets': bet, '/platform/results': result };

async function serve(request, raw) {
	const client = request.headers['x-client-id'];
	const given = Buffer.from(String(request.headers['x-client-signature']));
	const right = Buffer.from(hmac(clientKey, raw, 'hex'));
	if (client !== 'game' || given.length !== right.length || !crypto.timingSafeEqual(given, right))
		throw new Refusal('unauthorized', 'the signature is not right');
	const route = ROUTES[request.url];
	if (!route)
		throw new Refusal('not_found', 'no such path');
	let body;
	try {
		body = JSON.parse(raw);
	} catch (error) {
		throw new Refusal('bad_request', 'the body is no JSON object');
	}
	return route(client, body);
}

function send(response, status, body) {
	const text = JSON.stringify(body);
	response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store',
		'Content-Length': Buffer.byteLength(text) });
	response.end(text);
}

function onRequest(request, response) {
	const parts = [];
	request.on('data', part => parts.push(part));
	request.on('end', () => serve(request, Buffer.concat(parts)).then(body => send(response, 200, body), error => {
		const id = error instanceof Refusal ? error.id : 'internal_error';
		if (id === 'internal_error')
			console.error(error);
		send(response, STATUSES[id], { id, code: STATUSES[id], detail: error.message });
	}));
}

async function repeat(row) {
	const fields = row.kind === 'betting-refund'
		? { bet_amount: row.amount / 10000, game_id: row.game_id, player_id: row.player_id, remark: '',
			timestamp: row.at_ms, transaction_id: row.id, user_id: row.user_id }
		: resultFields(row, row.amount, row.result, row.game_id, row.user_id);
	const done = await ask(row.kind, row.id, fields) === 'success';
	const pause = row.kind === 'betting-refund' ? Math.min(300000, 1000 * 2 ** row.attempts) : 30000;
	await call('due_end', row.kind, row.id, done ? 1 : 0, Date.now() + pause);
}

async function repeatAll() {
	try {
		await Promise.all((await call('due_take', Date.now())).map(repeat));
	} catch (error) {
		console.error(error);
	}
	setTimeout(repeatAll, 1000);
}

if (cluster.isPrimary) {
	for (let count = require('os').cpus().length; count > 0; count--)
		cluster.fork();
	repeatAll();
} else {
	const server = http.createServer(onRequest);
	server.keepAliveTimeout = 60000;
	server.listen(Number(port), '127.0.0.1', 1024);
}
