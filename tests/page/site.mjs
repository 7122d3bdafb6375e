// SPDX-License-Identifier: MIT
// usage: site.mjs FOLDER SCREENSHOTS : the documentation as HTML, from file://: its search, keys, and what it is without JavaScript.
import assert from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { launch, noComplaints, open as openFile } from "./browser.mjs";

const [folder, shots] = process.argv.slice(2);
const open = (browser, file, options) => openFile(browser, path.resolve(folder, file), { within: path.resolve(folder), ...options });
const browser = await launch();
const page = await open(browser, "index.html");
const field = page.getByRole("combobox", { name: "Search the documentation" });
const options = page.getByRole("listbox", { name: "Found" }).getByRole("option");
assert.equal(await page.title(), "Overview - perfabi");

// A heading that is the word comes first; Enter goes there, from a page in a folder, too.
await page.keyboard.press("/");
assert.equal(await field.evaluate((element) => element === document.activeElement), true, "/ leads to the search");
await field.fill("PERF_RECORD_CALLCHAIN_DEFERRED");
assert.equal(await options.count() > 0, true);
assert.match(await options.first().textContent(), /^perfabi-records\(5\)/);
await field.fill("threads ownership");
assert.match(await options.first().textContent(), /^The library: Threads, ownership, errors/);
assert.equal(await options.first().getAttribute("aria-selected"), "true");
await page.keyboard.press("ArrowDown");
assert.equal(await options.nth(1).getAttribute("aria-selected"), "true");
await page.keyboard.press("ArrowUp");
await page.screenshot({ path: `${shots}/site-search.png` });
await page.keyboard.press("Enter");
await page.waitForURL(/library\.html#threads-ownership-errors$/);
assert.equal(await page.locator("nav [aria-current=page]").textContent(), "The library");
await page.goto(pathToFileURL(path.resolve(folder, "man/perfabi.1.html")).href);
await field.fill("perf_event_open errata man page");
assert.equal(await options.count() > 0, true);
await field.fill("group_fd joined errata");
await field.fill("lost samples of a ring");
await field.fill("no-such-word-anywhere");
assert.equal(await options.count(), 0);
assert.equal(await page.locator("#found .none").textContent(), "No section has all of these words.");
await page.keyboard.press("Escape");
assert.equal(await page.locator("#found").isHidden(), true);
await field.fill("<b>&\"");
assert.equal(await page.locator("#found b b").count(), 0, "what is searched for stays text");
await field.fill("seccomp");
await options.first().click();
assert.match(page.url(), /#/);

// Every link of the list of pages leads to a page with the same heading.
await page.goto(pathToFileURL(path.resolve(folder, "index.html")).href);
const links = await page.locator("nav a").evaluateAll((all) => all.map((one) => [one.href, one.textContent]));
for (const [href, text] of links) {
	await page.goto(href);
	assert.equal(await page.title(), `${text} - perfabi`);
	assert.equal(await page.locator("nav [aria-current=page]").textContent(), text);
	assert.equal(await page.locator("main h1").first().isVisible(), true, href);
}

// Time: of these sections, and of ten times as many, that of a search which finds none and so draws none. Others use the machine too: the
// fastest round counts.
await page.goto(pathToFileURL(path.resolve(folder, "index.html")).href);
const search = () => page.evaluate(() => {
	const input = document.querySelector("#search input");
	input.value = "sample no-such-word-anywhere";
	return Math.min(...Array.from({ length: 30 }, () => {
		const began = performance.now();
		input.dispatchEvent(new Event("input"));
		return performance.now() - began;
	}));
});
const smaller = await search();
await page.evaluate(() => { for (const section of INDEX.slice()) for (let i = 0; i < 9; i++) INDEX.push({ ...section }); });
const larger = await search();
console.log(`${links.length} pages; a search took ${smaller.toFixed(1)} ms, in ten times as many sections ${larger.toFixed(1)} ms`);
assert.equal(larger < 40 * Math.max(smaller, 0.1), true, `ten times the sections take ${larger / smaller} times as long`); // what is quadratic takes 100 times

// In the dark, on a phone, and without JavaScript.
const dark = await open(browser, "errata.html", { colorScheme: "dark" });
assert.equal(await dark.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 23, 27)");
await dark.screenshot({ path: `${shots}/site-dark.png` });
const phone = await open(browser, "index.html", { viewport: { width: 390, height: 800 } });
const wide = [];
for (const [href, text] of links) {
	await phone.goto(href);
	const width = await phone.evaluate(() => document.documentElement.scrollWidth);
	if (width > 390) wide.push(`${text} (${width} px)`);
}
assert.deepEqual(wide, [], "pages that a phone has to scroll sideways");
await phone.goto(pathToFileURL(path.resolve(folder, "decoding.html")).href);
await phone.screenshot({ path: `${shots}/site-phone.png` });
await phone.getByRole("link", { name: "Pages", exact: true }).click(); // they stand below the text there
await phone.waitForFunction(() => document.querySelector("nav").getBoundingClientRect().top < innerHeight);
const plain = await open(browser, "man/perfabi-records.5.html", { javaScriptEnabled: false });
assert.equal(await plain.getByRole("combobox").count(), 0, "a search that cannot search");
await plain.screenshot({ path: `${shots}/site-man.png` });
noComplaints("");
await browser.close();
