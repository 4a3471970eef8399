/*
 * work.js - the scenarios of an operator's work, as at each of their names: {name: run(at)} (playing.js).
 */
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const {act, ask, expect, heading, mouse, until} = require("./playing.js");

/* Until the replay of the page is over: what it made due is delivered. */
async function delivered(page, parked, count) {
	const wanted = `${count} of ${count} made due: ${count} delivered`;
	for (const ends = Date.now() + 60000; Date.now() < ends; await page.reload()) {
		await ask("deliver", {casino: parked.casino});
		if ((await page.textContent("main")).includes(wanted))
			return;
	}
	expect(false, `"${wanted}" is not reached: ${await page.textContent("main")}`);
}

async function expectAttempts(parked, number) {
	const attempts = await ask("attempts", {casino: parked.casino, events: parked.events});
	expect(attempts.length === 1 && attempts[0] === number, `attempts of each: ${attempts}`);
}

async function preview(page, url, parked, more = "") {
	await page.goto(`${url}replays/preview?casino=${parked.casino}&state=parked${more}`);
}

module.exports = {
	"disputed-bet-from-any-id": async ({enter, hands}) => {
		const {bet, story, ids} = await ask("dispute");
		const page = await enter("rita");
		for (const [kind, id] of Object.entries(ids)) {
			await hands.enter(page, ".search input", id);
			/* A number may be several things; a call, a callback and a round lead on. */
			for (let presses = 0; presses < 3 && !/^Bet/.test(await heading(page)); presses++) {
				const leads = [`main a[href$='/bets/${bet}']`, `main a[href$='/transactions/${bet}']`,
					"main a[href*='/round?']"];
				for (const lead of leads) {
					if (await page.locator(lead).count()) {
						await hands.press(page, lead);
						break;
					}
				}
			}
			const said = await page.locator("section[aria-label='What happened'] p").allTextContents();
			expect(said[0] === story[0] && said[1] === story[1], `${kind}: ${await heading(page)} says ${said}`);
		}
	},

	"parked-results-replayed": async ({enter, hands}) => {
		const parked = await ask("park", {count: 3});
		const page = await enter("nok");
		await hands.press(page, `.alarms a[href*='casino=${parked.casino}&']`);
		await hands.press(page, "button:text-is('Preview replay of all 3 parked')");
		expect((await page.textContent("main")).includes("together 75.00"), await page.textContent("main"));
		await act(page, "Send these 3 again", "the dealer is up", hands);
		await delivered(page, parked, 3);
		await expectAttempts(parked, 4);
	},

	"replay-survives-console-kill": async ({server, enter}) => {
		const parked = await ask("park");
		const page = await enter("nok");
		await preview(page, server.url, parked);
		await act(page, `Send these ${parked.count} again`, "the dealer is up");
		await ask("kill_console");
		/* A web server that met no console answers 503 by itself for a second. */
		const address = page.url();
		for (const ends = Date.now() + 30000; Date.now() < ends;) {
			if ((await page.goto(address)).ok())
				break;
		}
		await delivered(page, parked, parked.count);
		await expectAttempts(parked, 4);
	},

	"replay-stopped-halfway": async ({server, enter}) => {
		const page = await enter("nok");
		/* On a slow machine a replay may be done before it is stopped. */
		for (let tries = 0; tries < 5; tries++) {
			const parked = await ask("park");
			await preview(page, server.url, parked);
			await act(page, `Send these ${parked.count} again`, "the dealer is up");
			if (!await page.locator("button:text-is('Stop')").count())
				continue;
			await act(page, "Stop", "the wrong dealer");
			/* Without a button it was done meanwhile. */
			if (!/stopped/.test(await page.textContent("main")))
				continue;
			const made = await ask("deliver", {casino: parked.casino});
			await until(page, `${made} delivered`);
			expect(made < parked.count, `${made} were sent`);
			expect(!await page.locator("button:text-is('Stop')").count(), "no button after the stop");
			const attempts = await ask("attempts", {casino: parked.casino, events: parked.events});
			expect(attempts.includes(3) && attempts.every((number) => number <= 4), `attempts: ${attempts}`);
			return;
		}
		expect(false, "no replay was stopped before its end");
	},

	"mark-all-rows": async ({server, scripted, enter}) => {
		const parked = await ask("park", {count: 3});
		const page = await enter("nok");
		await page.goto(`${server.url}callbacks?casino=${parked.casino}&state=parked`);
		const button = page.locator("button.mark-all"), marked = page.locator("input[name=mark]:checked");
		expect(await page.locator("input[name=mark]").count() === 3, "rows with a mark");
		expect(await button.isVisible() === scripted, "the button needs the script");
		if (scripted) {
			for (const wanted of [3, 0, 3]) {
				await button.click();
				expect(await marked.count() === wanted, `${await marked.count()} of ${wanted} are marked`);
			}
		} else {
			await page.locator("input[name=mark]").first().check();
		}
		await page.click("button:text-is('Preview replay of the marked ones')");
		expect((await heading(page)).startsWith("Preview of a replay:"), await heading(page));
	},

	"filter-without-match-replays-nothing": async ({server, enter}) => {
		const parked = await ask("park", {count: 1});
		const page = await enter("nok");
		await page.goto(`${server.url}callbacks?casino=${parked.casino}&state=parked`);
		expect(await page.locator("button[name=which]").count() === 2, "the offers of a filter that matches");
		await page.selectOption("select[name=kind]", "betting-refund");
		await page.click("button:text-is('Show')");
		expect(!await page.locator("button[name=which]").count(), "no match, no offer");
		await preview(page, server.url, parked, "&kind=betting-refund");
		expect((await page.textContent("main")).includes("No parked callback with this filter."),
			await page.textContent("main"));
		expect(!await page.locator("main form[method=post]").count(), "no match, no form");
		expect(await ask("replays", {casino: parked.casino}) === 0, "no replay was begun");
	},

	"later-parked-is-not-replayed": async ({server, enter}) => {
		const parked = await ask("park", {count: 2});
		const page = await enter("kim");
		await preview(page, server.url, parked);
		const later = await ask("park_more", {casino: parked.casino});
		await act(page, "Send these 2 again", "the dealer is up");
		await delivered(page, parked, 2);
		await expectAttempts(parked, 4);
		await expectAttempts({casino: parked.casino, events: later}, 3);
	},

	"refused-call-explained": async ({enter}) => {
		const request = await ask("refuse");
		const page = await enter("nok");
		await page.click("nav a:text-is('Refused')");
		await page.click(`main a:has-text("${request}")`);
		const text = await page.textContent("main pre");
		for (const line of ["answer   401 invalid_signature", "\ncause    ", "\nremedy   "])
			expect(text.includes(line), `"${line}" is not in ${text}`);
		const copied = await page.getAttribute("main button:text-is('copy for the integrator')", "data-copy");
		const folded = await page.locator("main details pre").allTextContents();
		/* The explanation, the headers, and the body in hex, which is the last text. */
		expect(copied === `${text}\n${folded[0]}\n${folded[folded.length - 1]}`, `copied for the integrator: ${copied}`);
	},

	"finance-day-equals-recon": async ({enter}) => {
		const {casino, date, sums} = await ask("day");
		const page = await enter("kim");
		await page.click("nav a:text-is('Days')");
		/* A page has sixteen dealers. */
		const link = (name) => page.locator("main").getByRole("link", {name, exact: true});
		while (!await link(casino).count())
			await link("Further rows").click();
		await link(casino).first().click();
		await link("Next day").click();
		const shown = Object.fromEntries(await page.$$eval("main dt", (all) => all.map((name) =>
			[name.textContent, name.nextElementSibling.textContent])));
		for (const [name, wanted] of [["Bets", sums.bets], ["Staked", sums.staked], ["Refunded", sums.refunded]])
			expect(Number(shown[name]?.replaceAll(",", "")) === wanted, `${name} is ${shown[name]}, not ${wanted}`);
		const [download] = await Promise.all([page.waitForEvent("download"),
			page.click("button:text-is('Recon file (CSV)')")]);
		expect(download.suggestedFilename() === `recon-${casino}-${date}.csv`, download.suggestedFilename());
		const lines = fs.readFileSync(await download.path(), "utf8").split(/(?<=\n)/);
		const digest = crypto.createHash("sha256").update(lines.slice(0, -1).join("")).digest("hex");
		expect(lines.at(-1).includes(digest), `the digest in the last line: ${lines.at(-1)}`);
	},

	"double-click-acts-once": async ({server, scripted, enter}) => {
		const parked = await ask("park", {count: 1});
		const page = await enter("nok");
		const reason = `double click by ${server.name}, ${scripted}`;
		await page.goto(`${server.url}callbacks/${parked.events[0]}`);
		await page.fill("input[name=reason]", reason);
		await page.dblclick("button:text-is('Hold')", {noWaitAfter: true});
		await page.waitForSelector("p.done");
		const count = await ask("audit", {reason});
		expect(count === 1, `the audit has ${count} actions`);
	},

	"two-tabs-two-forms": async ({server, enter}) => {
		const {events} = await ask("park", {count: 2});
		const tabs = [await enter("nok")];
		tabs.push(await tabs[0].context().newPage());
		for (const [number, tab] of tabs.entries())
			await tab.goto(`${server.url}callbacks/${events[number]}`);
		for (const button of ["Hold", "Release"]) {
			for (const tab of tabs) {
				await act(tab, button, "two tabs", mouse);
				expect(await tab.locator("p.done").count() === 1, await tab.textContent("main"));
			}
		}
	},
};
