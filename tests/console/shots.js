/*
 * shots.js URL USER PASSWORD COOKIE DIRECTORY SET IDS - photographs pages of the console for doc/console.md. COOKIE
 * is that of USER's session: NAME=VALUE. SET is shots, for tests/console/shots.py, or large, for bench/console.py.
 * IDS is a JSON object with the ids that the addresses below take. Prints one line of JSON for each file, and for what is wrong.
 */
"use strict";
const fs = require("fs");
const path = require("path");
const {chromium} = require("playwright-core");
const [url, username, password, session, directory, set, json] = process.argv.slice(2);
const ids = JSON.parse(json);
const bytesMax = 100 * 1024;

/* name, address, width and height, and what differs from a light page for which the script ran */
const shots = [
	["overview", "", 1280, 700],
	["callback", `callbacks/${ids.parked}`, 1000, 800],
	["bet-phone", `bets/${ids.refunding}`, 390, 800, {colorScheme: "dark"}],
	["dealer-phone", "dealer?id=demo-b", 390, 1000],
	["player-narrow", "search?id=alice", 320, 800],
	["callbacks-empty", "callbacks?state=held", 1000, 500],
	["error", "bets/17", 1000, 300, {colorScheme: "dark"}],
	/* each page, for the end of doc/console.md */
	["page-sign-in", "", 700, 260, {signedOut: true}],
	["page-search", "search?id=zzz", 1000, 400],
	["page-dealers", "dealers", 1000, 320],
	["page-dealer", "dealer?id=demo", 1000, 760, {colorScheme: "dark"}],
	["page-player", `player?id=${ids.alice}`, 1000, 700],
	["page-transactions", "transactions", 1000, 420],
	["page-transaction", `transactions/${ids.transfer}`, 1000, 420],
	["page-bet", `bets/${ids.bet}`, 1000, 560, {colorScheme: "dark"}],
	["page-round", `round?player=${ids.bob}&game=game-2`, 1000, 700],
	["page-transfer", "transfer?of=dealer&owner=demo&reference=in-1", 1000, 480],
	["page-callbacks", "callbacks?casino=demo-b&state=parked", 1000, 480],
	["page-replay-preview", "replays/preview?casino=demo-b&state=parked", 1000, 560],
	["page-replays", "replays", 1000, 260],
	["page-replay", `replays/${ids.replay}`, 1000, 420],
	["page-refused", "refused", 1000, 440, {colorScheme: "dark"}],
	["page-explain", `explain?request=${ids.refused}`, 1000, 560],
	["page-days", "days", 1000, 320],
	["page-day", "days?casino=demo", 1000, 700],
	["page-audit", "audit", 1000, 460],
	["page-operators", "operators", 1000, 420],
	["page-health", "health", 1000, 760],
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
	["large-round", `round?player=${ids.bob}&game=game-0`, 390, 900],
];

async function photograph(browser, [name, address, width, height, {signedOut, ...options} = {}]) {
	const context = await browser.newContext({httpCredentials: {username, password}, viewport: {width, height},
		...options});
	const page = await context.newPage();
	const [cookie, value] = session.split("=");
	if (!signedOut)
		await context.addCookies([{name: cookie, value, url}]);
	const status = (await page.goto(url + address)).status();
	const file = path.join(directory, `${name}.png`);
	await page.screenshot({path: file});
	const bytes = fs.statSync(file).size;
	const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
	console.log(JSON.stringify({name, bytes, heading: await page.textContent("h1"),
		...(status !== (name === "error" ? 404 : 200) ? {what: `status ${status}`} : bytes > bytesMax ? {what: "more than 100 KiB"} : wide ? {what: "wider than the window"} : {})}));
	await context.close();
}

async function main() {
	const browser = await chromium.launch({executablePath: process.env.CB_CHROMIUM, args: ["--no-sandbox"]});
	for (const shot of {shots, large}[set])
		await photograph(browser, shot);
	await browser.close();
}

main().catch((error) => {
	console.error(error);
	process.exit(1);
});
