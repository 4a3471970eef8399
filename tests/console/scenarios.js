/*
 * scenarios.js ADMIN_URL DESK_URL USER PASSWORD CODE EVENT EVENT - what operators do in a browser, with and without
 * a script, for tests/console/test_browser.py. EVENT: two callbacks that are parked.
 *
 * Prints one line of JSON for each finding and {"scenarios": N} at the end. A line with the member "ask" is for the
 * caller, which answers with one line: stop and start the ledger, kill its engine, set a role, count in the audit.
 */
"use strict";
const readline = require("readline");
const {chromium} = require("playwright-core");
const [adminUrl, deskUrl, username, password, code, ...events] = process.argv.slice(2);
const answers = readline.createInterface({input: process.stdin})[Symbol.asyncIterator]();
let mode, scenario, done = 0;

const say = (line) => console.log(JSON.stringify(line));
const expect = (right, detail) => { if (!right) say({what: scenario, mode, detail}); };
const ask = async (what, more) => {
	say({ask: what, ...more});
	return (await answers.next()).value;
};
const heading = (page) => page.textContent("h1");

async function signIn(page, url, word) {
	await page.goto(url);
	await page.fill("input[name=code]", word);
	await page.click("main button");
	expect(await heading(page) === "Overview", await page.textContent("body"));
}

async function act(page, button, reason) {
	await page.fill("input[name=reason]", reason);
	await page.click(`button:text-is("${button}")`);
}

const scenarios = {
	"back-button-after-sign-out": async (page) => {
		await page.goto(`${adminUrl}callbacks/${events[0]}`);
		await page.click("button:text-is('Sign out')");
		expect(await heading(page) === "Sign in", await heading(page));
		await page.goBack();
		await page.waitForFunction(() => document.querySelector("h1"));
		expect(await heading(page) === "Sign in", `the back button shows ${await heading(page)}`);
		await signIn(page, adminUrl, code);
	},
	"two-tabs-sign-in": async (page) => {
		await page.click("button:text-is('Sign out')");
		const other = await page.context().newPage();
		await other.goto(adminUrl);
		await signIn(page, adminUrl, code);
		await other.fill("input[name=code]", code);
		await other.click("main button");
		for (const tab of [page, other]) {
			await tab.goto(`${adminUrl}dealers`);
			expect(await heading(tab) === "Dealers", `a tab shows ${await heading(tab)}`);
		}
		await other.close();
	},
	"two-tabs-two-forms": async (page) => {
		const other = await page.context().newPage();
		await page.goto(`${adminUrl}callbacks/${events[0]}`);
		await other.goto(`${adminUrl}callbacks/${events[1]}`);
		for (const button of ["Hold", "Release"]) {
			for (const tab of [page, other]) {
				await act(tab, button, "two tabs");
				expect(await tab.locator("p.done").count() === 1, await tab.textContent("main"));
			}
		}
		await other.close();
	},
	"double-click-acts-once": async (page) => {
		const reason = `double click ${mode}`;
		await page.goto(`${adminUrl}callbacks/${events[0]}`);
		await page.fill("input[name=reason]", reason);
		await page.dblclick("button:text-is('Hold')", {noWaitAfter: true});
		await page.waitForSelector("p.done");
		const count = await ask("audit", {reason});
		expect(count === "1", `the audit has ${count} actions`);
		await act(page, "Release", "again");
	},
	"mark-all-rows": async (page) => {
		await page.goto(`${adminUrl}callbacks?casino=demo-b&state=parked`);
		const button = page.locator("button.mark-all"), marked = page.locator("input[name=mark]:checked");
		const rows = await page.locator("input[name=mark]").count();
		expect(rows > 0, "rows with a mark");
		expect(await button.isVisible() === (mode === "with a script"), "the button needs the script");
		if (await button.isVisible()) {
			for (const wanted of [rows, 0, rows]) {
				await button.click();
				expect(await marked.count() === wanted, `${await marked.count()} of ${wanted} are marked`);
			}
		} else {
			await page.locator("input[name=mark]").first().check();
		}
		await page.click("button:text-is('Preview replay of the marked ones')");
		expect((await heading(page)).startsWith("Preview of a replay:"), await heading(page));
	},
	"permalink-from-chat-stays-signed-in": async (page) => {
		await page.goto(`data:text/html,<a href="${adminUrl}callbacks?state=parked">chat</a>`);
		await page.click("a");
		await page.waitForURL(/state=parked/);
		expect(await heading(page) === "Callbacks", `the link shows ${await heading(page)}`);
	},
	"ledger-down-page": async (page) => {
		await ask("stop");
		await page.goto(`${adminUrl}dealers`);
		expect(await heading(page) === "Not available now", await heading(page));
		expect((await page.textContent("main")).includes("creditbridgectl doctor"), "it says what to do");
		await ask("start");
		await page.goto(`${adminUrl}dealers`);
		expect(await heading(page) === "Dealers", `after the start: ${await heading(page)}`);
	},
	"ledger-restart-keeps-session": async (page) => {
		await signIn(page, deskUrl, await ask("code"));
		await ask("kill");
		await page.goto(`${deskUrl}dealers`);
		expect(await heading(page) === "Dealers", `after the kill: ${await heading(page)}`);
	},
	"role-change-ends-session": async (page) => {
		await page.goto(`${deskUrl}callbacks`);
		await ask("role");
		await page.click("nav a:text-is('Dealers')");
		expect(await heading(page) === "Sign in", `after the change: ${await heading(page)}`);
	},
};

async function main() {
	const browser = await chromium.launch({executablePath: process.env.CB_CHROMIUM, args: ["--no-sandbox"]});
	for (const javaScriptEnabled of [true, false]) {
		mode = javaScriptEnabled ? "with a script" : "without a script";
		const context = await browser.newContext({httpCredentials: {username, password}, javaScriptEnabled});
		const page = await context.newPage();
		scenario = "sign-in";
		await signIn(page, adminUrl, code);
		for (const [name, run] of Object.entries(scenarios)) {
			scenario = name;
			await run(page);
			done++;
		}
		await context.close();
	}
	await browser.close();
	say({scenarios: done});
}

main().then(() => process.exit(0), (error) => {
	say({what: scenario, mode, detail: String(error)});
	process.exit(1);
});
