/*
 * browser.js URL USER PASSWORD CODE - reads the console with a real browser (Debian's chromium, by
 * playwright-core), for tests/console/test_browser.py. Prints one line of JSON for each finding, and
 * {"visited": N} at the end.
 *
 * Each page is read at 320 pixels, and in light and dark at 1,280: nothing is wider than the window, axe-core
 * finds no violation, the browser reports no violation of the CSP and no error, and no dialog opens. The
 * same sign-in and the same callback work without a script.
 */
"use strict";
const fs = require("fs");
const {chromium} = require("playwright-core");
const [url, username, password, code] = process.argv.slice(2);
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const pagesMax = 24;

const found = (what, where, detail) => console.log(JSON.stringify({what, where, detail}));

async function open(browser, options) {
	const context = await browser.newContext({httpCredentials: {username, password}, ...options});
	const page = await context.newPage();
	page.on("console", (message) => {
		if (message.type() === "error")
			found("console", page.url(), message.text());
	});
	page.on("pageerror", (error) => found("error", page.url(), String(error)));
	page.on("dialog", (dialog) => {
		found("dialog", page.url(), dialog.message());
		dialog.dismiss();
	});
	return page;
}

async function signIn(page) {
	await page.goto(url);
	await page.fill("input[name=code]", code);
	await page.click("main button");
	if (await page.textContent("h1") !== "Overview")
		found("sign-in", page.url(), await page.textContent("body"));
}

/* The addresses of the pages, one of each kind: the first link to it. */
async function crawl(page) {
	const kinds = new Map();
	const seen = [url, url + "search?id=zzz", url + "callbacks?state=parked"];
	for (let at = 0; at < seen.length && at < pagesMax; at++) {
		await page.goto(seen[at]);
		const links = await page.$$eval("a[href]", (all) => all.map((a) => a.href));
		for (const link of links) {
			const kind = new URL(link).pathname.replace(/\d+/g, "#");
			if (kind.includes(".csv") || link.includes("#") || kinds.has(kind))
				continue;
			kinds.set(kind, link);
			seen.push(link);
		}
	}
	return seen.slice(0, pagesMax);
}

/* The keys: search, rows, and the list of them. Only with a script. */
async function pressKeys(page) {
	await page.goto(url + "callbacks");
	await page.keyboard.press("/");
	if (!await page.evaluate(() => document.activeElement.matches(".search input")))
		found("keys", page.url(), "/ does not lead to the search");
	await page.evaluate(() => document.activeElement.blur());
	for (const key of ["j", "j", "k"])
		await page.keyboard.press(key);
	if (!await page.evaluate(() => document.querySelector("tbody tr").matches(".chosen")))
		found("keys", page.url(), "j and k do not choose a row");
	await page.keyboard.press("?");
	if (!await page.locator(".keys[open] dl").isVisible())
		found("keys", page.url(), "? does not list the keys");
	await page.keyboard.press("Enter");
	await page.waitForURL(/callbacks\/\d+$/);
	await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
	await page.evaluate(() => document.activeElement.blur());
	await page.goto(url + "search?id=alice");
	await page.keyboard.press("c");
	const copied = await page.evaluate(() => navigator.clipboard.readText());
	if (!await page.evaluate((text) => document.querySelector("h1").textContent.includes("Player") &&
		text === document.querySelector(".id").textContent, copied))
		found("keys", page.url(), `c copied ${copied}`);
}

/* On paper there are no forms and no navigation, and nothing is cut off. */
async function print(page, where) {
	await page.emulateMedia({media: "print"});
	const wrong = await page.evaluate(() => [...document.querySelectorAll("header, form, button")].some(
		(element) => element.getClientRects().length) ||
		[...document.querySelectorAll(".wide")].some((element) => getComputedStyle(element).overflowX !== "visible"));
	if (wrong)
		found("print", where, "navigation or a form is printed, or a table is cut off");
	await page.emulateMedia({media: "screen"});
}

async function look(page, address, width, scheme) {
	const where = `${address} at ${width} px, ${scheme}`;
	await page.goto(address);
	const sizes = await page.evaluate(() => [document.documentElement.scrollWidth,
		document.documentElement.clientWidth]);
	if (sizes[0] > sizes[1])
		found("wide", where, sizes.join(" > "));
	if (width === 320)
		return;
	if (scheme === "light")
		await print(page, where);
	await page.evaluate(axe);
	const result = await page.evaluate(() => window.axe.run());
	for (const violation of result.violations)
		found("axe", where, `${violation.id}: ${violation.nodes.map((node) => node.html).slice(0, 3)}`);
}

/* Without a script: sign in, find the callback that is parked, hold it, and release it. */
async function withoutScript(browser) {
	const page = await open(browser, {javaScriptEnabled: false});
	await signIn(page);
	await page.click(".alarms a");
	await page.click("tbody a");
	for (const button of ["Hold", "Release"]) {
		await page.fill("input[name=reason]", "by a browser without a script");
		await page.click(`button:text-is("${button}")`);
		if (await page.locator("p.done").count() !== 1)
			found("no script", page.url(), `${button}: ${await page.textContent("main")}`);
	}
}

async function main() {
	const browser = await chromium.launch({executablePath: process.env.CB_CHROMIUM, args: ["--no-sandbox"]});
	let visited = 0, addresses;
	for (const scheme of ["light", "dark"]) {
		for (const width of scheme === "light" ? [320, 1280] : [1280]) {
			const page = await open(browser, {colorScheme: scheme, viewport: {width, height: 900}});
			await signIn(page);
			addresses ||= await crawl(page);
			for (const address of addresses) {
				await look(page, address, width, scheme);
				visited++;
			}
			await page.context().close();
		}
	}
	const keys = await open(browser, {});
	await signIn(keys);
	await pressKeys(keys);
	await withoutScript(browser);
	await browser.close();
	console.log(JSON.stringify({visited}));
}

main().catch((error) => {
	found("failed", url, String(error));
	process.exit(1);
});
