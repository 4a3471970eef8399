/*
 * corpus.js FILE - reads pages with hostile text, for corpus.py, which describes a visit. FILE: see playing.js, with
 *   visits      them
 *   operators   [user]; another user has no session
 *
 * Beside what a visit wants: the text adds no element and no address of another site, runs no script and opens no dialog
 * (playing.js).
 */
"use strict";
const {ask, expect, found, given, main, signIn, watch} = require("./playing.js");
const url = given.servers[0].url;

/* Runs in the page. Returns what is wrong. */
function compare(visit) {
	const wrong = [];
	const all = [...document.querySelectorAll("body *")];
	const own = (element) => (element.querySelector(":scope > bdi, :scope > a, :scope > .id bdi") || element).textContent;
	const need = (right, what) => { if (!right) wrong.push(what); };
	const texts = new Set(all.map((element) => element.textContent));
	const foreign = "img, iframe, style, base, object, embed, textarea, b, meta[http-equiv], body meta, body script";

	for (const text of visit.texts || [])
		need(texts.has(text), `no element has the text ${JSON.stringify(text)}`);
	for (const [label, text] of Object.entries(visit.pairs || {}))
		need([...document.querySelectorAll("dt")].some((name) => name.textContent === label &&
			own(name.nextElementSibling) === text), `${label} is not ${JSON.stringify(text)}`);
	for (const [selector, value] of Object.entries(visit.values || {}))
		need(document.querySelector(selector).value === value,
			`${selector} has ${JSON.stringify(document.querySelector(selector).value)}, not ${JSON.stringify(value)}`);
	for (const text of visit.within || [])
		need(document.querySelector("main").textContent.includes(text),
			`the page has no ${JSON.stringify(text)}: ${document.querySelector("main").textContent.slice(0, 300)}`);
	for (const text of visit.absent || [])
		need(!document.querySelector("main").textContent.includes(text), `the page has ${JSON.stringify(text)}`);
	need(!document.querySelector(foreign), `an element was added: ${document.querySelector(foreign)?.outerHTML}`);
	need(document.querySelectorAll("script").length === 1, "there is one script");
	for (const link of document.querySelectorAll("[href], [src], [action], [formaction]"))
		need(new URL(link.href?.baseVal ?? link.href ?? link.src ?? link.action, location).origin === location.origin,
			`an address of another site: ${link.outerHTML}`);
	for (const element of all)
		need(![...element.attributes].some((attribute) => /^(on|style$)/.test(attribute.name)),
			`a handler: ${element.outerHTML}`);
	return wrong;
}

/* Runs in the page. Returns the texts of the cells of each column that has one of @labels. */
function cellsOf(labels) {
	const cells = Object.fromEntries(labels.map((label) => [label, []]));
	for (const table of document.querySelectorAll("table")) {
		for (const [at, name] of [...table.querySelectorAll("thead th")].entries()) {
			for (const row of table.querySelectorAll("tbody tr"))
				cells[name.textContent]?.push((row.children[at].querySelector("bdi") || row.children[at]).textContent);
		}
	}
	return cells;
}

/* Reads the page, and those after it, until all cells that are wanted were there. */
async function read(page, visit) {
	const wanted = Object.fromEntries(Object.entries(visit.columns || {}).map(([label, texts]) => [label, new Set(texts)]));
	const missing = () => Object.values(wanted).some((texts) => texts.size);
	let address = url + visit.address;

	for (let pages = 0; address && (pages === 0 || pages < 4 && missing()); pages++) {
		const answer = await page.goto(address);
		expect(answer.status() < 400, `${visit.address}: ${answer.status()}`);
		for (const what of await page.evaluate(compare, visit))
			found(`${visit.user} at ${visit.address}: ${what}`);
		for (const [label, texts] of Object.entries(await page.evaluate(cellsOf, Object.keys(wanted))))
			texts.forEach((text) => wanted[label].delete(text));
		address = await page.evaluate(() => document.querySelector("a[rel=next], .pager a[href*='after=']")?.href);
	}
	for (const [label, texts] of Object.entries(wanted))
		expect(!texts.size, `${visit.user} at ${visit.address}: ${label} has not ${JSON.stringify([...texts])}`);
}

/* The name and the password are sent without being asked for: a name may be any text. */
const basic = (user) => `Basic ${Buffer.from(`${user}:${given.password}`).toString("base64")}`;

main(async (browser) => {
	const pages = {};
	const strangers = await (await browser.newContext()).newPage();
	watch(strangers.context());
	for (const visit of given.visits) {
		const operator = given.operators.includes(visit.user);
		let page = pages[visit.user];
		if (operator && !page) {
			const context = await browser.newContext({extraHTTPHeaders: {Authorization: basic(visit.user)}});
			watch(context);
			page = pages[visit.user] = await context.newPage();
			await signIn(page, url, await ask("code", {user: visit.user}));
		} else if (!operator) {
			page = strangers;
			await page.setExtraHTTPHeaders({Authorization: basic(visit.user)});
		}
		await read(page, visit);
	}
	return given.visits.length;
});
