/*
 * browser.js FILE - looks at every kind of page with inspect.js, on paper, and tries the keys. FILE: see playing.js, with
 *   pages      [[address, status]] that an administrator sees
 *   parked     the event of a callback that is parked
 *   guides     addresses of the guides for integrators, which are read on a phone, too
 */
"use strict";
const {expect, given, heading, main, play} = require("./playing.js");
const inspect = require("./inspect.js");

/* The keys: search, rows, and the list of them. Only with a script. */
async function pressKeys(page, url) {
	await page.goto(`${url}callbacks`);
	await page.keyboard.press("/");
	expect(await page.evaluate(() => document.activeElement.matches(".search input")), "/ does not lead to the search");
	await page.evaluate(() => document.activeElement.blur());
	for (const key of ["j", "j", "k"])
		await page.keyboard.press(key);
	expect(await page.evaluate(() => document.querySelector("tbody tr").matches(".chosen")), "j and k do not choose a row");
	await page.keyboard.press("?");
	expect(await page.locator(".keys[open] dl").isVisible(), "? does not list the keys");
	await page.keyboard.press("Enter");
	await page.waitForURL(/callbacks\/\d+$/);
	await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
	await page.goto(`${url}search?id=alice`);
	await page.keyboard.press("c");
	const copied = await page.evaluate(() => navigator.clipboard.readText());
	expect(await page.evaluate((text) => document.querySelector("h1").textContent.includes("Player") &&
		text === document.querySelector(".id").textContent, copied), `c copied ${copied}`);
}

/* On paper there are no forms and no navigation, and nothing is cut off. */
async function print(page, address) {
	await page.emulateMedia({media: "print"});
	const wrong = await page.evaluate(() => [...document.querySelectorAll("header, form, button")].some(
		(element) => element.getClientRects().length) ||
		[...document.querySelectorAll(".wide")].some((element) => getComputedStyle(element).overflowX !== "visible"));
	expect(!wrong, `${address}: navigation or a form is printed, or a table is cut off`);
	await page.emulateMedia({media: null});
}

const kinds = {
	"every page": async ({server, enter}) => {
		const page = await enter("ann");
		for (const [address, status] of given.pages) {
			const answer = await page.goto(server.url + address);
			expect(answer.status() === status, `${address}: ${answer.status()}`);
			await print(page, address);
			await inspect.look(page, address);
		}
	},
	"sign-in": async ({server, arrive}) => {
		const page = await arrive("rita");
		await page.goto(server.url);
		await inspect.look(page, "sign-in");
		await page.fill("input[name=code]", "000000");
		await page.click("main button");
		expect(await page.locator("p.error").count() === 1, "a wrong code");
		await inspect.look(page, "a wrong code");
		await page.goto(server.unfronted);
		expect(await heading(page) === "Not allowed", await heading(page));
		await inspect.look(page, "without the front secret");
	},
	"refusals": async ({server, enter}) => {
		const page = await enter("nok");
		for (const path of ["operators", `callbacks/${given.parked}/act`]) {
			await page.goto(server.url + path);
			await inspect.look(page, path);
		}
		await page.goto(`${server.url}callbacks/${given.parked}`);
		await page.click("button:text-is('Hold')");
		expect((await page.textContent("p.error")).includes("A reason must be given"), "a form without a reason");
		await inspect.look(page, "a form without a reason");
	},
	"guides": async ({arrive}) => {
		const page = await arrive("rita");
		for (const address of given.guides) {
			await page.goto(address);
			expect((await heading(page)).length > 0, `${address} has no heading`);
			await inspect.look(page, address);
		}
	},
	"keys": async ({server, enter}) => pressKeys(await enter("ann"), server.url),
};

main(async (browser) => {
	for (const [number, [name, run]] of Object.entries(kinds).entries())
		await play(browser, name, run, given.servers[number % given.servers.length], true);
	return given.pages.length;
});
