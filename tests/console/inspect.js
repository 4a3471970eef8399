/*
 * inspect.js - looks at a page at each width, light and dark: nothing is wider than the window, and axe-core finds no
 * violation.
 */
"use strict";
const fs = require("fs");
const {found, given} = require("./playing.js");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const widths = [320, 390, 1280];
/* The rules that depend on the width. Others look at elements, which are the same at each. */
const ofLayout = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];
let looks = 0;

async function run(page, where, options) {
	const result = await page.evaluate((more) => window.axe.run(document, {resultTypes: ["violations"], ...more}), options);
	for (const violation of result.violations)
		found(`${where}: axe: ${violation.id}: ${violation.nodes.map((node) => node.html).slice(0, 3)}`);
}

/* The scheme is there from the next frame on; playing.js has asked for no transitions. */
async function paint(page, colorScheme) {
	await page.emulateMedia({colorScheme});
	await page.evaluate(async (wanted) => {
		const frame = () => new Promise(requestAnimationFrame);
		do {
			await frame();
		} while (!matchMedia(`(prefers-color-scheme: ${wanted})`).matches);
		await frame();
	}, colorScheme);
}

/*
 * Looks at what @page shows. Every rule is run at one width, the next one for the next page, and there in dark, too: the
 * scheme changes only colours. With @given.every it is so at each width.
 */
async function look(page, name) {
	const whole = widths[looks++ % widths.length];

	await page.evaluate(axe);
	for (const width of widths) {
		const all = given.every || width === whole;
		await page.setViewportSize({width, height: 900});
		await paint(page, "light");
		await run(page, `${name} at ${width} px, light`, all ? {} : {runOnly: ofLayout});
		if (all) {
			await paint(page, "dark");
			await run(page, `${name} at ${width} px, dark`, {runOnly: ["color-contrast"]});
		}
		const sizes = await page.evaluate(() => [document.documentElement.scrollWidth,
			document.documentElement.clientWidth]);
		if (sizes[0] > sizes[1])
			found(`${name} at ${width} px is wider than the window: ${sizes.join(" > ")}`);
	}
	await page.emulateMedia({colorScheme: null});
}

module.exports = {look};
