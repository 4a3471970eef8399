/*
 * proxy - forwards calls to the service and checks them against the OpenAPI document.
 *
 *   node proxy.js --document FILE --report FILE --mount FROM:TO:SERVER[:PREFIX] [--mount ...]
 *
 * Each mount listens on port FROM of the loopback and forwards to port TO, where those paths of the
 * document are whose server is {SERVER}; PREFIX is what stands before them there. Bodies and headers pass untouched, both ways; what is judged is
 * a copy. express-openapi-validator judges requests and the bodies of answers; headers, and answers to
 * what the document does not know, are judged here by its schemas.
 *
 * A violation is an answer with a status, body or header that the document does not list; a request
 * that the document does not allow and that the service executed all the same; or a request that it
 * allows and that the service refused as bad. It is printed, and written to the report, which
 * SIGTERM ends: {judged, requests_refused, by_server, violations, seen}.
 */
'use strict';

const fs = require('fs');
const http = require('http');
const { parseArgs } = require('util');
const express = require('express');
const Ajv2020 = require('ajv/dist/2020').default;
const mung = require('express-openapi-validator/dist/framework/modded.express.mung').default;

/* By default it does not look at answers of 500 and more. */
const mungJson = mung.json;
mung.json = (judge) => mungJson(judge, { mungError: true });
const OpenApiValidator = require('express-openapi-validator');
const { load, resolve, closeAnswers, operations, servedAt } = require('./document');

/* Details of bad_request for faults that JSON Schema cannot express (contract, "Body";
 * of a cancelled bet, that two members are equal). */
const BEYOND_SCHEMA = /has a key twice|is nested deeper than|: must differ from /;

const { values: options } = parseArgs({
	options: {
		document: { type: 'string' },
		report: { type: 'string' },
		mount: { type: 'string', multiple: true },
	},
});
const document = load(options.document);
closeAnswers(document);

const report = { judged: 0, requests_refused: 0, by_server: 0, violations: [], seen: {} };
const ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: true });
ajv.addFormat('double', true);
ajv.addSchema({ $id: 'document', components: document.components });

function violation(judged, what) {
	const line = `${judged.method} ${judged.path} (${judged.name}) ${judged.status}: ${what}`;

	report.violations.push(line);
	console.error(`VIOLATION ${line}`);
}

/* The middlewares of express-openapi-validator, as one function: their error, or null. */
function validator(served, settings) {
	const middlewares = OpenApiValidator.middleware({
		apiSpec: JSON.parse(JSON.stringify(served)),
		validateFormats: false,
		ignoreUndocumented: false,
		fileUploader: false,
		...settings,
	});

	return (req, res) => new Promise((done) => {
		const step = (i) => (error) => {
			if (error || i === middlewares.length)
				return done(error || null);
			try {
				return middlewares[i](req, res, step(i + 1));
			} catch (thrown) {
				return done(thrown);
			}
		};
		step(0)(null);
	});
}

function requestValidator(served) {
	return validator(served, {
		validateRequests: { allowUnknownQueryParameters: true, coerceTypes: false },
		validateSecurity: true,
		validateResponses: false,
	});
}

function answerValidator(served) {
	return validator(served, {
		validateRequests: false,
		validateSecurity: false,
		validateResponses: {
			onError: (error, body, req) => { req.complaint = error.message; },
		},
	});
}

function collect(stream) {
	return new Promise((done, failed) => {
		const pieces = [];

		stream.on('data', (piece) => pieces.push(piece));
		stream.on('end', () => done(Buffer.concat(pieces)));
		stream.on('error', failed);
	});
}

/* The JSON value of @bytes; undefined: it is none. */
function parse(bytes) {
	try {
		return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
	} catch (error) {
		return undefined;
	}
}

/* Sends the request on as it came, and collects the answer. */
function forward(req, body, port) {
	return new Promise((done, failed) => {
		const request = http.request({
			host: '127.0.0.1',
			port,
			method: req.method,
			path: req.rawUrl,
			headers: req.rawHeaders,
			agent: false,
			setHost: false,
		}, (answer) => collect(answer).then((bytes) => done({ answer, bytes }), failed));

		request.on('error', failed);
		request.end(body);
	});
}

/* A header that was sent twice is no value of its own, but the two. */
function headerValues(raw, name) {
	return raw.filter((_, i) => i % 2 && raw[i - 1].toLowerCase() === name.toLowerCase());
}

function judgeHeaders(judged, told, raw) {
	for (const [name, reference] of Object.entries(told.headers || {})) {
		const header = resolve(document, reference);
		const found = headerValues(raw, name);

		if (found.length > 1)
			violation(judged, `header ${name} ${found.length} times`);
		else if (!found.length && header.required)
			violation(judged, `no header ${name}`);
		else if (found.length && !ajv.validate(header.schema, found[0]))
			violation(judged, `header ${name}: ${found[0]}: ${ajv.errorsText()}`);
	}
	/* Of the headers that mean something the answer has no other. */
	for (const name of ['X-Idempotent-Replay', 'Retry-After', 'Allow'])
		if (headerValues(raw, name).length && !(told.headers || {})[name])
			violation(judged, `a header ${name} that is not listed`);
}

/* An answer to what the document does not know: a path, or a method. */
function judgeUnknown(judged, status, body, raw) {
	const name = status === 404 ? 'NotFound' : 'MethodNotAllowed';
	const told = document.components.responses[name];
	const schema = { $ref: `document#/components/responses/${name}/content/application~1json/schema` };

	if (judged.status !== status)
		violation(judged, `not known to the document, so it should be ${status}`);
	else if (!ajv.validate(schema, body))
		violation(judged, ajv.errorsText());
	else
		judgeHeaders(judged, told, raw);
}

function judgeMedia(judged, told, raw) {
	const type = headerValues(raw, 'Content-Type')[0];

	if (!Object.keys(told.content).includes(type))
		violation(judged, `Content-Type ${type}`);
}

/* A request of which nothing is known but that it is not as the document says. */
function judgeRefusal(judged, fault, body) {
	if (fault) {
		report.requests_refused++;
		if (judged.status < 400)
			violation(judged, `done, although the request is not as it must be: ${fault}`);
	} else if (judged.status === 400 && body && body.id === 'bad_request' &&
		!BEYOND_SCHEMA.test(body.detail)) {
		violation(judged, `the document allows what is refused: ${body.detail}`);
	}
}

/* The validator judges what is given to json() of the response that it was called with. */
async function judgeBody(judged, req, body) {
	let taken = false;
	const response = {
		statusCode: judged.status,
		headersSent: false,
		getHeaders: () => ({ 'content-type': 'application/json' }),
		json: () => { taken = true; },
	};
	const error = await req.mount.judgeAnswer(req, response);

	if (!error)
		response.json(body);
	if (error || req.complaint || !taken)
		violation(judged, error ? error.message : req.complaint || 'could not be judged');
}

/* Judges the answer @bytes to @req, which has @fault (null: none). */
async function judge(req, fault, upstream, bytes) {
	const raw = upstream.rawHeaders;
	const body = parse(bytes);
	const known = req.openapi && req.openapi.schema;
	const judged = {
		method: req.method, path: req.path, status: upstream.statusCode,
		name: known ? known.operationId : 'not in the document',
	};
	const key = `${judged.name} ${judged.status}${body && body.id ? ` ${body.id}` : ''}`;
	const told = known && resolve(document, known.responses[judged.status]);

	report.judged++;
	/* Every answer of the service has it; without, the web server itself answered. */
	if (!headerValues(raw, 'X-Request-Id').length) {
		report.by_server++;
		if (!fault || judged.status < 400)
			violation(judged, 'an answer that is not of the service');
		return;
	}
	report.seen[key] = (report.seen[key] || 0) + 1;
	if (!known) {
		judgeUnknown(judged, fault && fault.status === 405 ? 405 : 404, body, raw);
		return;
	}
	judgeRefusal(judged, fault && fault.message, body);
	if (!told) {
		violation(judged, 'a status that is not listed');
		return;
	}
	judgeMedia(judged, told, raw);
	judgeHeaders(judged, told, raw);
	if (!told.content['application/json'])
		return;
	if (body === undefined) {
		violation(judged, 'the body is no JSON');
		return;
	}
	await judgeBody(judged, req, body);
}

/* What is wrong with the request by the document, as an error; null: nothing. */
async function requestFault(req, res, body) {
	const fault = await req.mount.judgeRequest(req, res);

	if (fault || !req.openapi || !req.openapi.schema.requestBody || body !== undefined)
		return fault;
	return new Error('the body is no JSON');
}

function decode(path) {
	try {
		return decodeURIComponent(path);
	} catch (error) {
		return path;
	}
}

async function pass(req, res) {
	const { to, prefix } = req.mount;
	const raw = await collect(req);
	const parsed = raw.length ? parse(raw) : undefined;
	const { answer, bytes } = await forward(req, raw, to);

	/* The service looks at the decoded path, and never at Content-Type. */
	req.headers['content-type'] = 'application/json';
	req.body = parsed;
	if (req.path.startsWith(`${prefix}/`)) {
		req.url = req.originalUrl = req.url.slice(prefix.length);
		await judge(req, await requestFault(req, res, parsed), answer, bytes);
	}
	res.sendDate = false;
	res.writeHead(answer.statusCode, answer.statusMessage, answer.rawHeaders);
	res.end(bytes);
}

function listen(mount) {
	const [from, to, server, prefix] = mount.split(':');
	const served = servedAt(document, server);
	const place = {
		to: Number(to),
		prefix: prefix || '',
		judgeRequest: requestValidator(served),
		judgeAnswer: answerValidator(served),
	};
	const app = express();

	app.disable('x-powered-by');
	app.enable('strict routing');
	app.enable('case sensitive routing');
	app.use((req, res) => {
		req.mount = place;
		pass(req, res).catch((error) => {
			/* What a caller sees whose server went away. */
			console.error(`${req.method} ${req.url}: ${error.message}`);
			res.destroy();
		});
	});
	http.createServer((req, res) => {
		req.rawUrl = req.url;
		req.url = decode(req.url);
		app(req, res);
	}).listen(Number(from), '127.0.0.1');
}

function finish() {
	const told = operations(document).flatMap(({ operation }) =>
		Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`));

	report.told = told;
	fs.writeFileSync(options.report, JSON.stringify(report, null, '\t'));
	process.exit(0);
}

process.on('SIGTERM', finish);
options.mount.forEach(listen);
