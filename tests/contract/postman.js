/*
 * postman - makes a Postman collection of the OpenAPI document.
 *
 *   node postman.js DOCUMENT COLLECTION
 *
 * openapi-to-postmanv2 makes the requests; here they get variables, a script that signs the bytes that
 * are sent, tests, and the document's own examples as saved answers.
 */
'use strict';

const fs = require('fs');
const converter = require('openapi-to-postmanv2');
const { load, resolve, operations } = require('./document');

/* What the examples of the document stand for. */
const VARIABLES = [
	['base_url', 'What dealers call', 'http://127.0.0.1:8080'],
	['platform_url', 'What game servers call', 'http://127.0.0.1:8081'],
	['casino_id', "The dealer's casino id", 'demo'],
	['casino_key', "The dealer's key: the 64 characters as issued", ''],
	['client_id', "The game server's id", 'slots'],
	['client_key', "The game server's key", ''],
	['user_id', 'A player of the dealer', 'alice'],
	['game_id', 'A game that the player has bet on', 'game-1'],
	['round_id', 'The game of the last bet; every bet begins a new one', ''],
];
const MEMBERS = {
	request_transaction_id: '{{$guid}}',
	request_timestamp: '{{$timestamp}}000',
	casino_id: '{{casino_id}}',
	user_id: '{{user_id}}',
	game_id: '{{game_id}}',
};
const NUMBERS = ['request_timestamp'];

/* Runs in Postman before each request. */
const SIGN = `
const hashes = require('crypto-js');
const signers = {
	'x-casino-signature': ['x-casino-id', 'casino_id', 'casino_key'],
	'x-client-signature': ['x-client-id', 'client_id', 'client_key'],
};
const signer = signers[pm.variables.get('signed_by')];
// What is signed is what is sent: variables are filled in once, here.
const body = pm.request.body ? pm.variables.replaceIn(pm.request.body.raw) : '';
if (pm.request.body)
	pm.request.body.update({ mode: 'raw', raw: body });
if (signer) {
	const [idHeader, id, key] = signer;
	pm.request.headers.upsert({ key: idHeader, value: pm.variables.get(id) });
	pm.request.headers.upsert({
		key: pm.variables.get('signed_by'),
		value: hashes.HmacSHA256(body, pm.variables.get(key)).toString(hashes.enc.Hex),
	});
}
`;

function script(listen, text) {
	const exec = text.trim().split('\n');

	return { listen, script: { type: 'text/javascript', exec } };
}

/* A body of the document's example, with variables for the values that differ from caller to
 * caller. */
function template(example, round) {
	const filled = Object.fromEntries(Object.entries(example).map(([name, value]) =>
		[name, name === 'game_id' && round ? '{{round_id}}' : MEMBERS[name] || value]));
	let text = JSON.stringify(filled, null, 2);

	for (const name of NUMBERS)
		text = text.replace(`"${MEMBERS[name]}"`, MEMBERS[name]);
	return text;
}

/* The example that the document has for @schema. */
function exampleOf(document, schema) {
	const found = resolve(document, schema);
	const parts = found.oneOf || found.anyOf || found.allOf || [];

	return found.example === undefined && parts.length ? exampleOf(document, parts[0])
		: found.example;
}

/* An answer of the document as a saved one. */
function saved(document, request, status, answer) {
	const [[type, media]] = Object.entries(answer.content);
	const example = media.example || exampleOf(document, media.schema);

	return {
		name: `${status} ${answer.description}`,
		originalRequest: request,
		code: Number(status),
		header: [{ key: 'Content-Type', value: type }],
		body: typeof example === 'string' ? example : JSON.stringify(example, null, 2),
	};
}

/* Makes of what the converter made of @operation what can be sent. */
function finish(document, item, { method, operation, path }) {
	const signature = operation.security && operation.security[0];
	const scheme = signature && document.components.securitySchemes[Object.keys(signature)[1]];
	const round = path.startsWith('/platform/');
	const request = item.request;
	const told = Object.keys(operation.responses).map(Number);
	// A dealer of a transfer wallet has no callback that could be sent again.
	const success = operation.operationId === 'resendCallback' ? 404 : 200;
	const test = [
		`pm.test('the document lists the status', () =>`,
		`	pm.expect(pm.response.code).to.be.oneOf(${JSON.stringify(told)}));`,
		`pm.test('it succeeds', () => pm.expect(pm.response.code).to.equal(${success}));`,
		`pm.test('it has a request id', () => pm.response.to.have.header('X-Request-Id'));`,
	];
	const before = [`pm.variables.set('signed_by', '${scheme ? scheme.name : ''}');`];

	if (operation.operationId === 'placeBet')
		before.push("pm.collectionVariables.set('round_id', pm.variables.replaceIn('{{$guid}}'));");
	delete request.auth;
	request.url = {
		raw: `{{${round || !scheme ? 'platform_url' : 'base_url'}}}${path}`,
		host: [`{{${round || !scheme ? 'platform_url' : 'base_url'}}}`],
		path: path.slice(1).split('/'),
	};
	request.header = request.header.filter(({ key }) => key === 'Content-Type');
	if (operation.requestBody) {
		const media = operation.requestBody.content['application/json'];

		request.body = {
			mode: 'raw', raw: template(media.example, round),
			options: { raw: { language: 'json' } },
		};
	}
	item.response = Object.entries(operation.responses).map(([status, answer]) =>
		saved(document, request, status, resolve(document, answer)));
	/* The item's script runs after the collection's: so each signs for itself. */
	item.event = [script('prerequest', [...before, SIGN].join('\n')), script('test', test.join('\n'))];
	if (method === 'get' && request.body)
		item.protocolProfileBehavior = { disableBodyPruning: true };
}

function leaves(items) {
	return items.flatMap((item) => (item.item ? leaves(item.item) : [item]));
}

function main([documentPath, collectionPath]) {
	const document = load(documentPath);
	const data = fs.readFileSync(documentPath, 'utf8');
	const options = { folderStrategy: 'Tags', requestParametersResolution: 'Example' };

	converter.convert({ type: 'string', data }, options, (error, result) => {
		if (error || !result.result)
			throw error || new Error(result.reason);
		const collection = result.output[0].data;
		const items = new Map(leaves(collection.item).map((item) => [item.name, item]));

		for (const operation of operations(document)) {
			const item = items.get(operation.operation.summary);

			if (!item)
				throw new Error(`${operation.operation.operationId} is in no folder`);
			finish(document, item, operation);
			items.delete(operation.operation.summary);
		}
		if (items.size)
			throw new Error(`no operations: ${[...items.keys()]}`);
		collection.event = [];
		collection.variable = VARIABLES.map(([key, description, value]) =>
			({ key, value, description, type: 'string' }));
		collection.protocolProfileBehavior = { disableBodyPruning: true };
		fs.writeFileSync(collectionPath, `${JSON.stringify(collection, null, '\t')}\n`);
	});
}

main(process.argv.slice(2));
