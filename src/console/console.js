/* The console's script. Every page works without it. */
"use strict";
(() => {
	const ages = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

	/* "3 min ago", as the title of a time. */
	const age = (time) => {
		const seconds = Math.round((Date.now() - Date.parse(time.dateTime)) / 1000);
		const [size, unit] = ages.find(([least]) => Math.abs(seconds) >= least) || [1, "s"];
		const text = `${Math.round(Math.abs(seconds) / size)} ${unit}`;
		return seconds < 0 ? `in ${text}` : `${text} ago`;
	};

	const prepare = (root) => {
		for (const time of root.querySelectorAll("time"))
			time.title = `${age(time)} (${time.dateTime})`;
		for (const button of root.querySelectorAll("button.mark-all"))
			button.hidden = false;
		if (navigator.clipboard)
			for (const button of root.querySelectorAll("button.copy"))
				button.hidden = false;
	};

	const copy = async (button) => {
		const text = button.textContent;
		await navigator.clipboard.writeText(button.dataset.copy);
		button.textContent = "copied";
		setTimeout(() => { button.textContent = text; }, 1500);
	};

	/* Marks the rows of a list; if all are marked, none. */
	const markAll = (button) => {
		const marks = [...button.form.querySelectorAll("input[name=mark]")];
		const checked = marks.some((mark) => !mark.checked);
		for (const mark of marks)
			mark.checked = checked;
	};

	document.addEventListener("click", (event) => {
		const button = event.target.closest("button");
		if (button?.matches(".copy"))
			copy(button);
		if (button?.matches(".mark-all"))
			markAll(button);
	});

	/* What is folded is printed, too. */
	addEventListener("beforeprint", () => {
		for (const details of document.querySelectorAll("details:not([open])")) {
			details.dataset.folded = "yes";
			details.open = true;
		}
	});
	addEventListener("afterprint", () => {
		for (const details of document.querySelectorAll("details[data-folded]")) {
			delete details.dataset.folded;
			details.open = false;
		}
	});

	/* A page that comes back from the browser's memory may be of a session that has ended. */
	addEventListener("pageshow", (event) => {
		if (event.persisted)
			location.reload();
	});

	/* A form is sent once, unless its page stays: a download. */
	document.addEventListener("submit", (event) => {
		if (event.target.method !== "post" || event.submitter?.dataset.again)
			return;
		if (event.target.dataset.sent)
			event.preventDefault();
		event.target.dataset.sent = "yes";
	});

	/* Keys: / search, j and k rows, Enter opens, c copies the id of the page, ? lists them. */
	const help = document.querySelector(".keys");
	help.hidden = false;
	let at = -1;
	const rows = () => [...document.querySelectorAll("tbody tr, .timeline > li")];
	const choose = (step) => {
		const all = rows();
		if (!all.length)
			return;
		all[at]?.classList.remove("chosen");
		at = Math.min(Math.max(at + step, 0), all.length - 1);
		all[at].classList.add("chosen");
		all[at].scrollIntoView({block: "nearest"});
	};
	const keys = {
		"/": () => document.querySelector(".search input")?.focus(),
		"j": () => choose(1),
		"k": () => choose(-1),
		"Enter": () => rows()[at]?.querySelector("a")?.click(),
		"c": () => (document.querySelector(".id + button.copy") || document.querySelector("button.copy"))?.click(),
		"?": () => {
			help.open = !help.open;
			help.scrollIntoView({block: "nearest"});
		},
	};
	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey ||
			event.target.closest("input, select, textarea, button, a, summary"))
			return;
		if (keys[event.key]) {
			keys[event.key]();
			event.preventDefault();
		}
	});

	/* Replaces the marked region of the page by that of a newer answer. */
	const region = document.querySelector("[data-refresh]");
	/* A page without input is not refreshed: each refresh would keep the session from becoming idle. */
	const used_ms = 5 * 60 * 1000;
	let used = Date.now();
	for (const kind of ["keydown", "pointerdown", "pointermove", "scroll"])
		addEventListener(kind, () => { used = Date.now(); }, {passive: true});
	const stale = () => region.classList.add("stale");
	const fresh_address = new URL(location.href);
	/* The server then leaves out what is not in the region. */
	fresh_address.searchParams.set("refresh", "1");
	const refresh = async () => {
		if (document.hidden)
			return;
		if (Date.now() - used > used_ms) {
			stale();
			return;
		}
		const answer = await fetch(fresh_address, {credentials: "same-origin"});
		/* Too many pages at once: the next interval asks again. */
		if (answer.status === 429)
			return;
		if (!answer.ok || answer.redirected) {
			stale();
			return;
		}
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		const fresh = page.querySelector("[data-refresh]");
		if (fresh) {
			prepare(fresh);
			region.replaceChildren(...fresh.childNodes);
			region.classList.remove("stale");
		}
	};
	if (region)
		setInterval(() => refresh().catch(stale), 1000 * region.dataset.refresh);

	prepare(document);
})();
