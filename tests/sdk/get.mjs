// get.mjs URL: sends a GET with the body {} by each client of Node; prints what the server saw, as JSON.
import axios from 'axios';
import got from 'got';
import http from 'node:http';
import { fetch as undiciFetch, request } from 'undici';

const url = process.argv[2];
const body = '{}';
const clients = {
	'axios': async () => (await axios.get(url, { data: body, responseType: 'text' })).data,
	'undici `request()`': async () => (await request(url, { method: 'GET', body })).body.text(),
	'undici `fetch()`': async () => (await undiciFetch(url, { method: 'GET', body })).text(),
	'Node and browser `fetch()`': async () => (await fetch(url, { method: 'GET', body })).text(),
	'got': () => got(url, { body, retry: { limit: 0 } }).text(),
	'got with `allowGetBody`': () => got(url, { body, allowGetBody: true }).text(),
	'Node `http.request()` with `Content-Length`': () => new Promise((resolve, reject) => {
		http.request(url, { method: 'GET', headers: { 'Content-Length': 2 } }, (answer) => {
			let text = '';
			answer.on('data', (piece) => { text += piece; });
			answer.on('end', () => resolve(text));
		}).on('error', reject).end(body);
	}),
};
const seen = {};
for (const [name, call] of Object.entries(clients)) {
	try {
		seen[name] = await call();
	} catch {
		seen[name] = 'refused';
	}
}
console.log(JSON.stringify(seen));
