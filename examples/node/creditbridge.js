#!/usr/bin/env node
'use strict';
/*
 * A dealer's calls to the wallet: Node, no package needed.
 *
 *     creditbridge.js balance USER
 *     creditbridge.js in  USER AMOUNT REFERENCE     credit into the platform
 *     creditbridge.js out USER AMOUNT REFERENCE     and out of it
 *     creditbridge.js result USER GAME
 *     creditbridge.js --vectors FILE                check sign() against signature-vectors.json
 *
 * CREDITBRIDGE_URL, CREDITBRIDGE_CASINO and CREDITBRIDGE_KEY_FILE give the address, the casino id and the file
 * that holds the key. Prints the answer. Exit status: 0 done; 1 refused; 2 usage; 75 the outcome is
 * not known: the same command with the same REFERENCE, later, returns it and moves nothing twice.
 */
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const https = require('https');

const TRIES = 5;
const TIMEOUT_MS = 10000;

// Of the bytes that are sent. The key's characters are the key: do not decode its hex.
function sign(key, body) {
	return crypto.createHmac('sha256', key).update(body).digest('hex');
}

/*
 * One attempt: {status, retryAfter, text}; rejected when there was no answer. Not by fetch(), which
 * refuses a GET with a body. For a GET http.request() frames no body by itself: without
 * Content-Length the server would not see it.
 */
function send(method, path, body) {
	const url = new URL(process.env.CREDITBRIDGE_URL.replace(/\/$/, '') + path);
	const key = fs.readFileSync(process.env.CREDITBRIDGE_KEY_FILE, 'ascii').trim();
	const headers = {
		'Content-Type': 'application/json',
		'Content-Length': body.length,
		'x-casino-id': process.env.CREDITBRIDGE_CASINO,
		'x-casino-signature': sign(key, body),
	};

	return new Promise((resolve, reject) => {
		const request = (url.protocol === 'https:' ? https : http).request(url,
			{method, headers, signal: AbortSignal.timeout(TIMEOUT_MS)}, (answer) => {
				const pieces = [];

				answer.on('data', (piece) => pieces.push(piece));
				answer.on('error', reject);
				answer.on('end', () => resolve({
					status: answer.statusCode,
					retryAfter: answer.headers['retry-after'],
					text: Buffer.concat(pieces).toString(),
				}));
			});
		request.on('error', reject);
		request.end(body);
	});
}

function isObject(text) {
	try {
		return JSON.parse(text).constructor === Object;
	} catch {
		return false;
	}
}

// Repeats the same bytes, and so the same REFERENCE, until there is an answer that counts.
async function call(method, path, text) {
	const body = Buffer.from(text);
	let wait = 1;

	for (let attempt = 0; attempt < TRIES; attempt++) {
		if (attempt)
			await new Promise((resolve) => setTimeout(resolve, wait * 1000));
		wait = 2 ** attempt;
		try {
			const answer = await send(method, path, body);
			const known = answer.status === 200 && isObject(answer.text);

			if (known || (answer.status !== 200 && answer.status < 500 && answer.status !== 429)) {
				console.log(answer.text);
				return known ? 0 : 1;
			}
			console.error(`status ${answer.status}`);
			if (/^[0-9]+$/.test(answer.retryAfter || ''))
				wait = Math.min(Number(answer.retryAfter), 30);
		} catch (error) {
			console.error(`no answer: ${error.message}`);
		}
	}
	console.error('the outcome is not known: repeat with the same reference');
	return 75;
}

async function transfer(direction, user, amount, reference) {
	// The amount's digits are sent as they are, never through a Number.
	if (!/^(0|[1-9][0-9]{0,10})(\.[0-9]{1,4})?$/.test(amount)) {
		console.error(`${amount}: not an amount`);
		return 2;
	}
	return call('POST', `/wallet-service/credit/transfer-${direction}`,
		`{"amount":${amount},"request_transaction_id":${JSON.stringify(reference)},` +
		`"user_id":${JSON.stringify(user)}}`);
}

function vectors(file) {
	const rows = JSON.parse(fs.readFileSync(file)).vectors;
	const wrong = rows.filter((row) => {
		const body = Buffer.from(row.body_base64, 'base64');

		return row.signature !== sign(row.key, Buffer.concat(Array(row.times).fill(body)));
	});

	console.log(`${rows.length - wrong.length} of ${rows.length} vectors`,
		...wrong.map((row) => row.name));
	return wrong.length || !rows.length ? 1 : 0;
}

async function main([command, ...words]) {
	if (command === '--vectors' && words.length === 1)
		return vectors(words[0]);
	if ((command === 'in' || command === 'out') && words.length === 3)
		return transfer(command, ...words);
	if (command === 'balance' && words.length === 1)
		return call('GET', '/user-service/user/3rdparty-get-balance',
			JSON.stringify({user_id: words[0], request_timestamp: Date.now()}));
	if (command === 'result' && words.length === 2)
		return call('GET', '/game-service/bet_game/result-inquire',
			JSON.stringify({user_id: words[0], game_id: words[1]}));
	console.error('usage: creditbridge.js balance USER | in|out USER AMOUNT REFERENCE |\n' +
		'                       result USER GAME | --vectors FILE');
	return 2;
}

main(process.argv.slice(2)).then((code) => { process.exitCode = code; });
