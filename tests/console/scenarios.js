/*
 * scenarios.js FILE - plays every scenario with and without a script: those of work.js, and here those of sessions, of
 * strangers, and of a ledger that is away. The first two are played only with the keyboard, too. FILE: see playing.js.
 */
"use strict";
const {act, allow, ask, expect, heading, keyboard, main, playAll, signIn, skip} = require("./playing.js");
const inspect = require("./inspect.js");
const work = require("./work.js");
const wrong = 5; /* codes that lock a name */

async function tryCode(page, url, code) {
	await page.goto(url);
	await page.fill("input[name=code]", code);
	await page.click("main button");
}

/* A mount that is not the console's shows nothing, whatever session the browser has. */
async function expectNothing(page, url) {
	const status = (await page.goto(url)).status();
	expect(status === 403 && /(the|no valid) front secret/.test(await page.textContent("main")),
		`${status} ${await page.textContent("body")}`);
	expect(!await page.locator("nav, input[name=code]").count(), "neither pages nor a form");
}

const sessions = {
	"back-button-after-sign-out": async ({server, enter}) => {
		const page = await enter("rita");
		await page.goto(`${server.url}dealers`);
		await page.click("button:text-is('Sign out')");
		expect(await heading(page) === "Sign in", await heading(page));
		await page.goBack();
		await page.waitForSelector("h1");
		expect(await heading(page) === "Sign in", `the back button shows ${await heading(page)}`);
	},

	"two-tabs-sign-in": async ({server, arrive}) => {
		const page = await arrive("rita");
		const other = await page.context().newPage();
		const code = await ask("code", {user: "rita"});
		await other.goto(`${server.url}dealers`);
		expect(await heading(other) === "Sign in", `the second tab shows ${await heading(other)}`);
		await signIn(page, server.url, code);
		/* The code is used up. The form opens its page all the same, because the browser is signed in. */
		await other.fill("input[name=code]", code);
		await other.click("main button");
		expect(await heading(other) === "Dealers", `the second form leads to ${await heading(other)}`);
		for (const tab of [page, other]) {
			await tab.goto(`${server.url}dealers`);
			expect(await heading(tab) === "Dealers", `a tab shows ${await heading(tab)}`);
		}
	},

	"permalink-from-chat-stays-signed-in": async ({server, enter}) => {
		const page = await enter("rita");
		await page.goto(`data:text/html,<a href="${server.url}callbacks?state=parked">chat</a>`);
		await page.click("a");
		await page.waitForURL(/state=parked/);
		expect(await heading(page) === "Callbacks", `the link shows ${await heading(page)}`);
	},

	"role-change-ends-session": async ({server, enter}) => {
		const page = await enter("lou");
		await page.goto(`${server.url}callbacks`);
		await ask("change", {user: "lou"});
		await page.click("nav a:text-is('Dealers')");
		expect(await heading(page) === "Sign in", `after the change: ${await heading(page)}`);
	},

	"wrong-code-locks-only-with-front-secret": async ({server, arrive}) => {
		const page = await arrive("rita");
		await expectNothing(page, server.unfronted);
		for (let tries = 0; tries <= wrong; tries++) {
			/* The form of another mount: this one shows none. */
			const answer = await page.request.post(`${server.unfronted}sign-in`, {form: {code: "000000"},
				headers: {Origin: new URL(server.unfronted).origin}});
			expect(answer.status() === 403, `without the front secret: ${answer.status()}`);
		}
		await signIn(page, server.url, await ask("code", {user: "rita"}));
		await page.click("button:text-is('Sign out')");
		const code = await ask("code", {user: "rita"});
		for (let tries = 0; tries < wrong; tries++)
			await tryCode(page, server.url, "000000");
		await tryCode(page, server.url, code);
		expect((await page.textContent("p.error")).startsWith("The code was not accepted."), "the name is locked");
		await ask("unlock", {user: "rita"});
		await signIn(page, server.url, code);
	},

	"stale-code-asks-again": async ({server, enter}) => {
		const parked = await ask("park", {count: 1});
		await ask("fresh", {seconds: 5});
		let page;
		/* On a slow machine the code may be old before the page is there. */
		for (let tries = 0; tries < 5; tries++) {
			await page?.context().close();
			page = await enter("nok");
			await page.goto(`${server.url}replays/preview?casino=${parked.casino}&state=parked`);
			if (!await page.locator("input[name=code]").count())
				break;
		}
		const other = await page.context().newPage();
		for (const ends = Date.now() + 30000; Date.now() < ends;) {
			await other.goto(page.url());
			if (await other.locator("input[name=code]").count())
				break;
		}
		await act(page, "Send these 1 again", "ticket 4711");
		expect((await page.textContent("main")).includes("This needs a fresh one-time code. Nothing was done."),
			await page.textContent("main"));
		expect(await page.inputValue("input[name=reason]") === "ticket 4711", "the reason stays");
		expect(await ask("replays", {casino: parked.casino}) === 0, "nothing was done");
		await page.fill("input[name=code]", await ask("next_code", {user: "nok"}));
		await page.click("button:text-is('Send these 1 again')");
		expect(/^Replay \d+$/.test(await heading(page)), await page.textContent("main"));
		await ask("fresh", {seconds: 600});
	},

	"forged-REMOTE_USER-by-htaccess": async ({server, enter}) => {
		const page = await enter("ann");
		await expectNothing(page, server.unfronted);
		if (server.name !== "apache")
			return;
		/* The site has the console's style and script no more than its pages. */
		allow(/MIME type/);
		for (const guess of ["none", "0".repeat(64)])
			await expectNothing(page, await ask("forge", {login: "ann", front: guess}));
	},

	"exec-as-www-data-gets-nothing": async ({server, scripted, enter}) => {
		const page = await enter("ann");
		const url = await ask("strange", {server: server.name});
		if (!url)
			return skip("only root can start a process of the web server's user");
		for (const path of ["", "sign-in", "callbacks"]) {
			const status = (await page.goto(url + path)).status();
			expect(status >= 500 && !await page.locator("nav, input[name=code]").count(),
				`${path}: ${status} ${await page.textContent("body")}`);
		}
		if (scripted)
			await inspect.look(page, "a console without a ledger");
	},

	"ledger-restart-keeps-session": async ({server, enter}) => {
		const page = await enter("rita");
		await ask("kill_engine");
		await page.goto(`${server.url}dealers`);
		expect(await heading(page) === "Dealers", `after the kill: ${await heading(page)}`);
	},

	"ledger-down-page": async ({server, scripted, enter}) => {
		const page = await enter("rita");
		await ask("stop");
		await page.goto(`${server.url}dealers`);
		expect(await heading(page) === "Not available now", await heading(page));
		expect((await page.textContent("main")).includes("creditbridgectl doctor"), "it says what to do");
		if (scripted)
			await inspect.look(page, "a ledger that is down");
		await ask("start");
		/* Its sessions are in its memory (console/README). */
		await signIn(page, server.url, await ask("code", {user: "rita"}));
	},
};

/* Only Apache has .htaccess. */
sessions["forged-REMOTE_USER-by-htaccess"].server = "apache";

main(async (browser) => {
	const scenarios = {...work, ...sessions};
	const byKeyboard = Object.fromEntries(Object.entries(work).slice(0, 2));
	return await playAll(browser, byKeyboard, keyboard, 2) + await playAll(browser, scenarios);
});
