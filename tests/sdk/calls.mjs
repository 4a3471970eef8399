// calls.mjs JSON: makes the calls [[METHOD, WORD...], ...] with the Node client. Prints for each its outcome and
// its waits, as a line of JSON. ["at", URL, KEY_FILE] is no call: those after it go there, with that key.
import { readFileSync } from 'node:fs';
import { Client } from 'creditbridge-dealer';

const waits = [];
const client = (baseUrl, keyFile) => new Client({
	baseUrl,
	casinoId: process.env.CREDITBRIDGE_CASINO,
	key: readFileSync(keyFile, 'ascii').trim(),
	wait: async (ms) => { waits.push(ms / 1000); },
});
let wallet = client(process.env.CREDITBRIDGE_URL, process.env.CREDITBRIDGE_KEY_FILE);
const calls = {
	in: (user_id, amount, request_transaction_id) =>
		wallet.transferIn({ user_id, amount, request_transaction_id }),
	out: (user_id, amount, request_transaction_id) =>
		wallet.transferOut({ user_id, amount, request_transaction_id }),
	balance: (user_id) => wallet.balance(user_id),
	stat: (user_id) => wallet.stat(user_id, { include_data: ['bet_summary'] }),
	result: (user_id, game_id) => wallet.resultInquire(user_id, game_id),
	out_all: (user_id, request_transaction_id) =>
		wallet.transferOut({ all: true, user_id, request_transaction_id }),
	inquire: (request_transaction_id, seal) => wallet.transferInquire(request_transaction_id, { seal }),
	feed: (after, limit, wait_ms) => wallet.feed({ after, limit, wait_ms }),
	history: (user_id, after, limit) => wallet.history(user_id, { after, limit }),
	callbacks: (state) => wallet.callbacks({ state }),
	resend: (webhook_id) => wallet.resend(webhook_id),
};
for (const [method, ...words] of JSON.parse(process.argv[2])) {
	let outcome;
	if (method === 'at') {
		wallet = client(...words);
		continue;
	}
	try {
		outcome = { answer: await calls[method](...words) };
	} catch (error) {
		const { id, conclusive, attempts } = error;
		outcome = { error: error.name.replace('Error', ''), id, conclusive, attempts };
	}
	console.log(JSON.stringify({ ...outcome, waits: waits.splice(0) }));
}
