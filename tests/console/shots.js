/*
 * shots.js URL USER PASSWORD CODE DIRECTORY EVENT BET - photographs pages of the console for doc/console.md, for
 * tests/console/shots.py. With a cookie NAME=VALUE in place of the code, the pages are those of a large state, for
 * bench/console.py. Prints one line of JSON for each file, and for what is wrong.
 */
"use strict";
const fs = require("fs");
const path = require("path");
const {chromium} = require("playwright-core");
const [url, username, password, code, directory, event, bet] = process.argv.slice(2);
const bytesMax = 100 * 1024;

/* name, address, width and height, and what differs from a light page for which the script ran */
const shots = [
	["overview", "", 1280, 700],
	["callback", `callbacks/${event}`, 1000, 800],
	["bet-phone", `bets/${bet}`, 390, 800, {colorScheme: "dark"}],
	["dealer-phone", "dealer?id=demo-b", 390, 1000],
	["player-narrow", "search?id=alice", 320, 800],
	["callbacks-empty", "callbacks?state=held", 1000, 500],
	["error", "bets/17", 1000, 300, {colorScheme: "dark"}],
];

/* Of 10 million players and 5,000 parked results (bench/console.py). */
const large = [
	["large-overview", "", 1280, 800],
	["large-callbacks", "callbacks?casino=parked&state=parked", 1280, 520],
	["large-preview", "replays/preview?casino=parked&state=parked", 1280, 600],
	["large-dealer", "dealer?id=bench", 1280, 800, {colorScheme: "dark"}],
	["large-player", "search?id=parked/bob", 1280, 900],
	["large-transactions", "transactions", 1280, 420],
	["large-overview-narrow", "", 320, 900, {colorScheme: "dark"}],
	["large-callbacks-narrow", "callbacks?casino=parked&state=parked", 320, 900],
	["large-callbacks-phone", "callbacks?casino=parked&state=parked", 390, 900, {colorScheme: "dark"}],
	["large-round", `round?player=${bet}&game=game-0`, 390, 900],
];

async function photograph(browser, [name, address, width, height, options]) {
	const context = await browser.newContext({httpCredentials: {username, password}, viewport: {width, height},
		...options});
	const page = await context.newPage();
	const [cookie, session] = code.split("=");
	if (session) {
		await context.addCookies([{name: cookie, value: session, url}]);
	} else {
		await page.goto(url);
		await page.fill("input[name=code]", code);
		await page.click("main button");
	}
	await page.goto(url + address);
	const file = path.join(directory, `${name}.png`);
	await page.screenshot({path: file});
	const bytes = fs.statSync(file).size;
	const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
	console.log(JSON.stringify({name, bytes, heading: await page.textContent("h1"),
		...(bytes > bytesMax ? {what: "more than 100 KiB"} : wide ? {what: "wider than the window"} : {})}));
	await context.close();
}

async function main() {
	const browser = await chromium.launch({executablePath: process.env.CB_CHROMIUM, args: ["--no-sandbox"]});
	for (const shot of code.includes("=") ? large : shots)
		await photograph(browser, shot);
	await browser.close();
}

main().catch((error) => {
	console.error(error);
	process.exit(1);
});
