/*
 * playing.js - plays what operators do in a browser (Debian's chromium, by playwright-core), for the scripts beside
 * it, which tests/console/test_browser.py starts with one argument, a file with a JSON object:
 *   password   of every name at the web servers
 *   servers    [{name, url, unfronted}]: the console by each web server, and its mount without the front secret
 *   every      true: each scenario by each server; else each by one server with a script, and by another without
 *
 * Prints one line of JSON for each finding: {"what", "mode", "detail"}. A line with the member "ask" is for the caller,
 * which answers with one line (host.py); one with the member "skipped" says why a scenario was not played. In every run a dialog, a violation of the CSP and an error of a script are
 * findings.
 */
"use strict";
const fs = require("fs");
const readline = require("readline");
const {chromium} = require("playwright-core");
const given = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const answers = readline.createInterface({input: process.stdin})[Symbol.asyncIterator]();
let now = {what: process.argv[1].replace(/.*\//, ""), mode: ""}, allowed = null;

const say = (line) => console.log(JSON.stringify(line));
const found = (detail) => say({...now, detail});
const expect = (right, detail) => { if (!right) found(detail); };
const ask = async (what, more) => {
	say({ask: what, ...more});
	return JSON.parse((await answers.next()).value);
};
/* What the browser may say at its console until the end of the scenario. */
const allow = (expression) => { allowed = expression; };
/* run() returns this if it cannot be played here. */
const skip = (why) => ({skipped: why});
const heading = (page) => page.textContent("h1");

function watch(context) {
	context.on("dialog", (dialog) => {
		found(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	context.on("weberror", (error) => found(`error: ${error.error()}`));
	context.on("console", (message) => {
		const text = message.text();
		/* A page with a status of 400 and above is an error, too. */
		const answered = text.startsWith("Failed to load resource: the server responded");
		if (message.type() === "error" && !answered && !allowed?.test(text))
			found(`console: ${text}`);
	});
}

/* Tab until the element has the focus, which must be seen. Each page begins at its top. */
async function focus(page, target) {
	const wanted = page.locator(target).first();
	for (let tabs = 0; tabs < 120; tabs++) {
		if (await wanted.evaluate((element) => element === document.activeElement)) {
			expect(await wanted.evaluate((element) => element.matches("input") ||
				getComputedStyle(element).outlineStyle !== "none"), `the focus on ${target} is not seen`);
			return;
		}
		await page.keyboard.press("Tab");
	}
	throw new Error(`120 times Tab do not lead to ${target}`);
}

/* A key that leads to another page is over when that page is there. */
async function turned(page, key) {
	await Promise.all([page.waitForEvent("domcontentloaded"), page.keyboard.press(key)]);
}

/* How an operator reaches and uses what is on a page: with the mouse, or only with the keyboard. */
const mouse = {
	press: (page, target) => page.locator(target).first().click(),
	write: (page, target, text) => page.locator(target).first().fill(text),
	enter: async (page, target, text) => {
		await page.locator(target).first().fill(text);
		await turned(page, "Enter");
	},
};

const keyboard = {
	press: async (page, target) => {
		await focus(page, target);
		await turned(page, "Enter");
	},
	write: async (page, target, text) => {
		await focus(page, target);
		await page.keyboard.press("Control+A");
		await page.keyboard.type(text);
	},
	enter: async (page, target, text) => {
		await keyboard.write(page, target, text);
		await turned(page, "Enter");
	},
};

async function signIn(page, url, code, hands = mouse) {
	await page.goto(url);
	await hands.write(page, "input[name=code]", code);
	await hands.press(page, "main button");
	expect(await heading(page) === "Overview", `sign-in: ${await page.textContent("body")}`);
}

async function act(page, button, reason, hands = mouse) {
	await hands.write(page, "input[name=reason]", reason);
	await hands.press(page, `main button:text-is("${button}")`);
}

/* Reloads the page until it has the text. */
async function until(page, text) {
	for (const ends = Date.now() + 60000; Date.now() < ends; await page.reload()) {
		if ((await page.textContent("main")).includes(text))
			return;
	}
	found(`the page never has "${text}": ${await page.textContent("main")}`);
}

/*
 * Plays a scenario, and returns why it was skipped, if it was: run(at), with
 *   at.server        the server
 *   at.scripted      whether scripts run
 *   at.hands         mouse or keyboard
 *   at.arrive(user)  a page of a browser of its own, which the web server takes for the user
 *   at.enter(user)   the same, signed in
 */
async function play(browser, name, run, server, scripted, hands) {
	const contexts = [];
	const at = {server, scripted, hands};
	allowed = null;
	now = {what: name, mode: `${server.name}, ${scripted ? "with" : "without"} a script` +
		(hands === keyboard ? ", keyboard" : "")};
	at.arrive = async (username) => {
		const context = await browser.newContext({httpCredentials: {username, password: given.password},
			javaScriptEnabled: scripted, reducedMotion: "reduce"});
		contexts.push(context);
		context.setDefaultTimeout(30000);
		watch(context);
		return context.newPage();
	};
	at.enter = async (username) => {
		const page = await at.arrive(username);
		await signIn(page, server.url, await ask("code", {user: username}), hands);
		return page;
	};
	const ended = await run(at);
	for (const context of contexts)
		await context.close();
	return ended?.skipped;
}

/*
 * Plays all scenarios: {name: function}. Returns how many were played, without those that were skipped. @first: so that the
 * next ones begin with another server. A function with a member "server" is always played by that one with a script.
 */
async function playAll(browser, scenarios, hands = mouse, first = 0) {
	let done = 0;
	for (const [number, [name, run]] of Object.entries(scenarios).entries()) {
		if (!name.includes(process.env.CB_SCENARIO || ""))
			continue;
		for (const scripted of [true, false]) {
			const rotated = given.servers[(first + number + !scripted) % given.servers.length];
			const needed = scripted && given.servers.find((server) => server.name === run.server);
			for (const server of given.every ? given.servers : [needed || rotated]) {
				const began = Date.now();
				const skipped = await play(browser, name, run, server, scripted, hands);
				if (skipped) {
					say({skipped: name, mode: now.mode, why: skipped});
					continue;
				}
				say({played: name, mode: now.mode, ms: Date.now() - began});
				done++;
			}
		}
	}
	return done;
}

/* Runs @script(browser), and prints {"done": what it returns}. */
function main(script) {
	chromium.launch({executablePath: process.env.CB_CHROMIUM, args: ["--no-sandbox"]}).then(async (browser) => {
		say({done: await script(browser)});
		await browser.close();
	}).then(() => process.exit(0), (error) => {
		found(String(error));
		process.exit(1);
	});
}

module.exports = {
	act, allow, ask, expect, found, given, heading, keyboard, main, mouse, play, playAll, say, signIn, skip, until, watch,
};
