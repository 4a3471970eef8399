'use strict';
/* A dealer's client, written from the public documentation of 2024; see client.sh. */
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');

function sign(body) {
	return crypto.createHmac('sha256', process.env.KEY).update(body).digest('base64');
}

function call(method, path, values) {
	const body = JSON.stringify(values);
	const headers = {
		'Content-Type': 'application/json',
		'Content-Length': Buffer.byteLength(body),
		'x-casino-id': process.env.CASINO,
		'x-casino-signature': sign(body),
	};

	http.request(process.env.URL + path, {method, headers}, (answer) => {
		answer.pipe(process.stdout);
	}).end(body);
}

const [command, ...words] = process.argv.slice(2);
const user_id = words[0];
const request_timestamp = Date.now();
const commands = {
	in: () => call('POST', '/wallet-service/credit/transfer-in',
		{user_id, amount: Number(words[1]), request_transaction_id: words[2]}),
	out: () => call('POST', '/wallet-service/credit/transfer-out',
		{user_id, amount: Number(words[1]), request_transaction_id: words[2]}),
	balance: () => call('GET', '/user-service/user/3rdparty-get-balance',
		{user_id, request_timestamp}),
	stat: () => call('GET', '/user-service/user/stat',
		{user_id, include_data: ['bet_summary'], request_timestamp}),
	result: () => call('GET', '/game-service/bet_game/result-inquire',
		{user_id, game_id: words[1]}),
	verify: () => {
		const mine = Buffer.from(sign(fs.readFileSync(words[0])));
		const given = Buffer.from(words[1]);

		process.exitCode = mine.length === given.length &&
			crypto.timingSafeEqual(mine, given) ? 0 : 1;
	},
};

commands[command]();
