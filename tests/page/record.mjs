// SPDX-License-Identifier: MIT
// usage: record.mjs PAGE RECORDING LINES : the page of perfabi-decode --html has the bytes of RECORDING, and the places of LINES (of --bytes).
import assert from "node:assert/strict";
import fs from "node:fs";
import { launch, noComplaints, open } from "./browser.mjs";

const [file, recording, linesFile] = process.argv.slice(2);
const bytes = fs.readFileSync(recording);
const lines = fs.readFileSync(linesFile, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const records = lines.filter((line) => line.at);
const browser = await launch();
const page = await open(browser, file);

// Each record: the bytes of the file, and every member's own ones by the number that its JSON has too.
const found = await page.locator("section.record").evaluateAll((sections) => sections.map((section) => {
	return {
		title: section.querySelector("h2").textContent,
		dump: section.querySelector(".hex").textContent.trimEnd().split("\n").map((row) => row.slice(6, 6 + 47).trim()).join(" "),
		members: [...section.querySelectorAll(".json [data-m]")].map((e) => [e.dataset.m, e.querySelector("b").textContent, [...e.children].filter((c) => c.localName === "small").map((c) => c.textContent).join("")]),
	};
}));
assert.equal(found.length, records.length);
for (const [i, record] of records.entries()) {
	const own = bytes.subarray(record.offset, record.offset + record.size);
	assert.equal(found[i].title, `${record.type} at ${record.offset}, ${record.size} bytes`);
	assert.equal(found[i].dump, [...own].map((byte) => byte.toString(16).padStart(2, "0")).join(" "));
	const wanted = Object.entries(record.at).map(([name, [offset, length]], n) => [String(n + 3), name.split(".").at(-1), `${offset}+${length}`]);
	const compare = ([a], [b]) => a - b;
	assert.deepEqual(found[i].members.filter(([number]) => number >= 3).sort(compare), wanted);
	assert.deepEqual(found[i].members.filter(([number]) => number < 3).map(([, name]) => name).sort(), ["misc", "size", "type"]);
}

// Pointed at, or with the focus, a member is marked on both sides: these bytes alone.
const record = page.locator("section.record").first(), at = records[0].at;
const marked = () => record.locator(".hex .on").evaluateAll((all) => all.map((e) => e.textContent).filter((text) => /^[0-9a-f]{2}( [0-9a-f]{2})*$/.test(text)).join(" "));
for (const name of ["ip", "pid", "time"]) {
	const [offset, length] = at[name], number = Object.keys(at).indexOf(name) + 3;
	const wanted = [...bytes.subarray(records[0].offset + offset, records[0].offset + offset + length)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
	await record.locator(`.json [data-m="${number}"]`).hover();
	assert.equal(await marked(), wanted, name);
	await page.evaluate(() => document.activeElement.blur());
	await page.mouse.move(0, 0);
	assert.equal(await marked(), "");
	await record.locator(`.json [data-m="${number}"]`).focus();
	assert.equal(await marked(), wanted, name);
	await page.mouse.move(0, 1);
	assert.equal(await marked(), wanted, "what has the focus stays marked");
	await page.keyboard.press("ArrowDown");
	assert.equal(await record.locator(".json .on").getAttribute("data-m"), String(number + 1));
	await record.locator(`.hex [data-m="${number}"]`).first().hover();
	assert.equal(await record.locator(".json .on").getAttribute("data-m"), String(number));
}
await page.locator("summary").click();
assert.match(await page.locator("details pre").textContent(), /"perf.data"/);
noComplaints("");

const plain = await open(browser, file, { javaScriptEnabled: false, colorScheme: "dark" });
assert.equal(await plain.locator("section.record").count(), records.length);
assert.equal(await plain.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(16, 19, 23)");
noComplaints("");
await browser.close();
