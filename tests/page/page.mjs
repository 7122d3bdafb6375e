// SPDX-License-Identifier: MIT
// usage: page.mjs PAGE REPORT... : the page of `perfabi report` says what the reports have; all of it is found again here by itself.
import assert from "node:assert/strict";
import fs from "node:fs";
import { complaints, launch, noComplaints, open } from "./browser.mjs";

const [file, ...paths] = process.argv.slice(2);
const reports = paths.map((path) => JSON.parse(fs.readFileSync(path, "utf8")));
const HOSTILE = "</script><b onmouseover=alert(1)>&amp;\"'{{table}}\u202e";

// What the reports have, by case: [{report, result}].
const cases = new Map();
for (const report of reports)
	for (const result of report.results) cases.set(result.id, [...(cases.get(result.id) || []), { report, result }]);
const count = (test, of = () => true) => [...cases.values()].filter((said) => {
	const seen = said.filter(({ report }) => of(report));
	return seen.length && test(seen.map(({ result }) => result), seen);
}).length;
const some = (outcome) => (results) => results.some((result) => result.outcome === outcome);
// What a result says of the kernel: nothing if it is skipped; that a capability is not there, however it is refused.
const verdict = ({ outcome, capability }) => outcome === "skip" ? undefined : outcome === "pass" && capability ? (capability === "yes" ? "pass" : "not there") : outcome;
const different = (results) => new Set(results.map(verdict).filter(Boolean)).size > 1;
const judges = new Map(reports.map((report) => [report, report.results.some(verdict)]));
const partial = (results, said) => new Set(said.filter(({ report }) => judges.get(report)).map(({ result }) => !verdict(result))).size > 1;
const answers = (word) => (results) => results.some((result) => result.capability === word);
const on = (...machines) => (report) => machines.includes(report.environment.machine);
const release = (text) => (report) => report.environment.kernel === text || report.environment.kernel.startsWith(`${text}.`);
const all = cases.size;
function bySuite() {
	const suites = new Map();
	for (const said of cases.values()) suites.set(said[0].result.suite, [...(suites.get(said[0].result.suite) || []), said]);
	return suites;
}

const browser = await launch();
const page = await open(browser, file);
const field = page.getByRole("searchbox", { name: "Search cases" });
const grid = page.getByRole("treegrid", { name: "Cases by machine" });
const dialog = page.getByRole("dialog");
const shownCount = async () => (await page.locator("#count").textContent()).replace(/(\d),(?=\d)/g, "$1");
const heads = () => page.locator(".head [role=columnheader]").evaluateAll((cells) => cells.slice(1).map((cell) => cell.querySelector(".host").textContent));
const hash = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("q"));

// Closes the dialog, which its address leaves a moment later.
async function escape() {
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => !/(case|machine)=/.test(location.hash));
}
async function step(name, test) {
	await test();
	noComplaints(name);
	console.log(`ok ${name}`);
}

await step("the machines stand from the newest kernel on, by kind and name", async () => {
	assert.deepEqual(await heads(), ["build-9", "build-8", "arm-3", "build-5", "mainframe", "no-perf", "arm-2", HOSTILE]);
	assert.equal(await page.locator("#about").textContent(), `8 machines · 7 kernels, 7.3.4 to 6.1.100 · ${all.toLocaleString("en")} cases in ${new Set([...cases.values()].map((said) => said[0].result.suite)).size} suites`);
	assert.equal(await page.locator("#notes").isHidden(), true);
});

await step("each search has exactly what the reports have", async () => {
	const text = (word) => (results) => results.some((r) => [r.id, r.title, r.suite, r.place, r.as, r.kind, r.spec.man, r.spec.kernel, r.spec.since, r.spec.note].join("\n").toLowerCase().includes(word));
	const absent = count((results) => results.length < reports.length);
	for (const [query, expected, columns] of [
		["status:pass", count(some("pass"))], ["status:fail", count(some("fail"))], ["status:skip", count(some("skip"))],
		["status:xfail", count(some("xfail"))], ["status:xpass", count(some("xpass"))], ["status:error", count(some("error"))],
		["status:absent", absent], ["status:fail,error", count((r) => some("fail")(r) || some("error")(r))],
		["status:fail status:xpass", count((r) => some("fail")(r) && some("xpass")(r))],
		["is:different", count(different)], ["is:partial", count(partial)], ["is:different is:partial", count((r, said) => different(r) && partial(r, said))],
		["arch:arm64 is:partial", count(partial, on("aarch64")), 2], ["status:yes", count(answers("yes"))], ["status:no", count(answers("no"))], ["status:no,denied", count((r) => answers("no")(r) || answers("denied")(r))],
		["kernel:6.12", count(() => true, release("6.12")), 3], ["kernel:6.1", count(() => true, release("6.1")), 2],
		["kernel:7", count(() => true, release("7")), 2], ["arch:arm64", count(() => true, on("aarch64")), 2], ["arch:aarch64", count(() => true, on("aarch64")), 2],
		["arch:x86_64", count(() => true, on("x86_64")), 4], ["arch:amd64 kernel:6.12", count(() => true, (r) => on("x86_64")(r) && release("6.12")(r)), 1],
		["arch:arm64 is:different", count(different, on("aarch64")), 2], ["status:fail arch:arm64", count(some("fail"), on("aarch64")), 2],
		["host:mainframe", count(() => true, on("s390x")), 1], ["below-ver0", count(text("below-ver0"))], ["REFUSED", count(text("refused"))],
		["refused status:fail", count((r) => text("refused")(r) && some("fail")(r))], ["perf_copy_attr", count(text("perf_copy_attr"))],
		['"a size below"', count(text("a size below"))], ["no-such-text", 0], ["arch:vax", 0, 0],
	]) {
		await field.fill(query);
		const machines = columns === undefined ? "" : `, ${columns} machine${columns === 1 ? "" : "s"}`;
		assert.equal(await shownCount(), `${expected} of ${all} cases${machines}`, query);
		assert.equal(await hash(), query, query);
		if (columns) assert.equal((await heads()).length, columns, query);
		assert.equal(await page.locator("#none").isHidden(), expected > 0, query);
	}
	for (const [query, said] of [["status:fial", "status: takes fail, unstable, error, xpass, xfail, pass, skip, absent, yes, no, denied"], ["is:odd", "is: takes different, partial"],
		["stauts:fail", "There is no term stauts:; did you mean status:?"], ["Kernle:6.12", "There is no term kernle:; did you mean kernel:?"], ["status:fail ahost:x", "There is no term ahost:; did you mean host:?"],
		["errno:EINVAL", "There is no term errno:; there are status:, is:, kernel:, arch:, host:"], ["si:partial", "There is no term si:; did you mean is:?"], ["sattus:", `1 of ${all} cases`], ['"stauts:fail"', `0 of ${all} cases`]]) {
		await field.fill(query);
		assert.equal(await shownCount(), said);
	}
	await field.fill("");
	assert.equal(await shownCount(), "");
});

await step("the address holds the search: back, forward, reload", async () => {
	await page.waitForTimeout(1100); // what is typed without a pause is one step back
	await field.fill("status:fail");
	await page.waitForTimeout(1100);
	await field.fill("arch:arm64");
	await page.goBack();
	assert.equal(await field.inputValue(), "status:fail");
	assert.equal(await shownCount(), `${count(some("fail"))} of ${all} cases`);
	await page.goForward();
	assert.equal(await field.inputValue(), "arch:arm64");
	await page.reload();
	assert.equal(await field.inputValue(), "arch:arm64");
	assert.equal(await shownCount(), `${count(() => true, on("aarch64"))} of ${all} cases, 2 machines`);
	const other = await open(browser, file, { hash: "#q=status%3Afail+arch%3Aarm64" });
	assert.equal(await other.getByRole("searchbox").inputValue(), "status:fail arch:arm64");
	assert.equal((await other.locator("#count").textContent()).replace(/(\d),(?=\d)/g, "$1"), `${count(some("fail"), on("aarch64"))} of ${all} cases, 2 machines`);
	await other.context().close();
	await field.fill("");
});

await step("each button of the legend is a search", async () => {
	const buttons = page.getByRole("group", { name: "Show cases that" }).getByRole("button");
	const unlike = { "is:different": ["differs", different], "is:partial": ["partial", partial] };
	const terms = ["is:different", "is:partial", "status:fail", "status:unstable", "status:error", "status:xpass", "status:xfail", "status:pass", "status:skip"];
	assert.equal(await buttons.count(), terms.length);
	for (const term of terms) {
		const [word, test] = unlike[term] || [term.slice(7), some(term.slice(7))], expected = count(test);
		const button = page.locator(`#legend [data-term="${term}"]`);
		assert.equal(await button.getAttribute("aria-label"), `${word}: ${expected.toLocaleString("en")} cases`);
		await button.click();
		assert.equal(await field.inputValue(), term);
		assert.equal(await button.getAttribute("aria-pressed"), "true");
		assert.equal(await shownCount(), `${expected} of ${all} cases`);
		await button.click();
		assert.equal(await field.inputValue(), "");
	}
});

await step("groups open and close, by mouse, buttons and keys", async () => {
	await page.getByRole("button", { name: "Close all" }).click();
	const groups = new Set([...cases.values()].map((said) => said[0].result.suite)).size;
	assert.equal(await grid.getAttribute("aria-rowcount"), String(groups + 2));
	await page.getByRole("button", { name: "Open all" }).click();
	assert.equal(await grid.getAttribute("aria-rowcount"), String(groups + all + 2));
	await page.getByRole("button", { name: "Close all" }).click();
	const first = grid.locator(".row.group").first();
	await first.locator(".name").click();
	assert.equal(await first.getAttribute("aria-expanded"), "true");
	await grid.focus();
	await page.keyboard.press("Control+Home");
	await page.keyboard.press("Home");
	await page.keyboard.press("ArrowLeft");
	assert.equal(await grid.locator(".row.group").first().getAttribute("aria-expanded"), "false");
	await page.keyboard.press("ArrowRight");
	assert.equal(await grid.locator(".row.group").first().getAttribute("aria-expanded"), "true");
	await page.keyboard.press("ArrowDown");
	assert.match(await page.locator("#active").getAttribute("class"), /name/);
	await page.keyboard.press("ArrowLeft"); // from a case to its group
	assert.equal(await page.locator("#active").evaluate((cell) => cell.parentElement.ariaLevel), "1");
	await page.keyboard.press("Enter");
	assert.equal(await grid.locator(".row.group").first().getAttribute("aria-expanded"), "false");
	await page.keyboard.press("/");
	assert.equal(await page.evaluate(() => document.activeElement.id), "query");
	await page.keyboard.type("zzz");
	await page.keyboard.press("Escape");
	assert.equal(await field.inputValue(), "");
	await page.keyboard.press("Escape");
	assert.equal(await page.evaluate(() => document.activeElement.id), "grid");
	await page.keyboard.press("End");
	assert.equal(await page.locator("#active").getAttribute("aria-colindex"), "9");
	for (let i = 0; i < 3; i++) await page.keyboard.press("PageDown");
	assert.equal(await grid.getAttribute("aria-activedescendant"), "active");
	await page.keyboard.press("Control+End");
	assert.equal(await page.locator("#active").count(), 1);
});

await step("what differs stands first, then what some skip, of each the newest difference before others", async () => {
	// By the reports themselves: in each group those that differ, by the newest kernel that differs from the one before it that judges the case on such a machine.
	const order = ["7.3.4", "7.2.13", "6.12.107", "6.12.90-rc2", "6.6.9", "6.1.176", "6.1.100"];
	const rank = (said, aspect, none) => {
		said = said.filter(({ result }) => aspect(result));
		if (new Set(said.map(({ result }) => aspect(result))).size < 2) return none;
		for (const [i, kernel] of order.entries())
			for (const { report, result } of said.filter((one) => one.report.environment.kernel === kernel)) {
				const before = said.filter((one) => one.report.environment.machine === report.environment.machine && order.indexOf(one.report.environment.kernel) > i)
					.sort((a, b) => order.indexOf(a.report.environment.kernel) - order.indexOf(b.report.environment.kernel))[0];
				if (before && aspect(before.result) !== aspect(result)) return i;
			}
		return 50;
	};
	const place = (said) => {
		const differs = rank(said, verdict, 99);
		return differs < 99 ? differs : 100 + rank(said.filter(({ report }) => judges.get(report)), (result) => verdict(result) ? "judged" : "skipped", 99);
	};
	const compare = (a, b) => place(a) - place(b);
	assert.deepEqual([...new Set([...cases.values()].map(place))].sort((a, b) => a - b), [0, 1, 2, 50, 100, 101, 102, 150, 199]); // each kind of place is there
	const suites = bySuite();
	for (const said of suites.values()) said.sort((a, b) => compare(a, b) || (a[0].result.id < b[0].result.id ? -1 : 1));
	const wanted = [...suites].sort(([a, x], [b, y]) => compare(x[0], y[0]) || (a < b ? -1 : 1));
	const table = JSON.parse(await page.locator("#table").textContent());
	assert.deepEqual(table.groups.map((group) => [group.suite, group.rows.map(([about]) => about.id)]), wanted.map(([suite, said]) => [suite, said.map((one) => one[0].result.id)]));
});

await step("a case in full", async () => {
	const [id, said] = [...cases].find(([, one]) => one.some(({ result }) => result.outcome === "xfail"));
	const xfail = said.filter(({ result }) => result.outcome === "xfail"), one = xfail[0].result;
	await field.fill(id);
	await grid.locator(".row.case .cell.xfail").nth(1).click();
	assert.equal(await dialog.getByRole("heading", { level: 2 }).textContent(), id);
	assert.equal(await dialog.locator(".promise").textContent(), one.title);
	const facts = (part) => part.evaluate((dl) => [...dl.querySelectorAll(":scope > dt")].map((dt) => [dt.textContent, dt.nextElementSibling.innerText.trim()]));
	const spec = [["Man page", one.spec.man], ["Kernel", one.spec.kernel], ["Since", one.spec.since], ["Note", one.spec.note]].filter(([, text]) => text);
	assert.deepEqual((await facts(dialog.locator(".inside > dl"))).map(([name, text]) => [name, text.split("\n")[0]]), [["As", one.vehicle ? `${one.as}; with ${one.vehicle}` : one.as], ...spec, ["Case", one.place], ["Again", `perfabi run --baseline none ${id}`], ["", `perfabi run ${id}`], ["", `perfabi run --cases '<it'\\''s a folder>; x' ${id}`]]);
	assert.deepEqual(await dialog.locator(".again + small").allTextContents(), ["as on build-8", "as on build-9 and 3 others", "as on mainframe"]);
	const block = dialog.locator("section").filter({ has: page.getByRole("heading", { name: "xfail" }) });
	assert.deepEqual(await facts(block.locator("dl")), [["Call", one.call], ["Expected", "EINVAL from entry"], ["Got", "ENOENT from <pmu>"], ["Gate", "pmu or validate"],
		["Known", "perf_swevent_init() does <not> what it \"should\""], ["", "since 6.12; seen on 6.12, 7.3"], ["", "a & b"]]);
	assert.deepEqual(await block.locator("li").allTextContents(), ["build-9 7.3.4 x86_64", "build-8 7.2.13 x86_64", "arm-3 6.12.107 aarch64", "build-5 6.12.107 x86_64"]);
	assert.equal(await block.locator("li.here").textContent(), "build-8 7.2.13 x86_64");
	assert.equal(await dialog.locator("section").count(), 3);
	assert.equal(await dialog.locator("section").nth(1).locator("li").count(), 3);
	const address = await page.evaluate(() => location.hash);
	assert.equal(new URLSearchParams(address.slice(1)).get("case"), id);
	assert.equal(await dialog.getByRole("link", { name: "Link" }).getAttribute("href"), address);
	await escape();
	assert.equal(await dialog.count(), 0);
	assert.equal(await page.evaluate(() => document.activeElement.id), "grid");
	await page.goBack();
	assert.equal(await dialog.getByRole("heading", { level: 2 }).textContent(), id);
	await dialog.getByRole("button", { name: "Copy the command" }).first().click();
	await dialog.getByRole("button", { name: "Close" }).click();
	await page.waitForFunction(() => !/case=/.test(location.hash));
	assert.equal(await dialog.count(), 0);
	const other = await open(browser, file, { hash: address });
	assert.equal(await other.getByRole("dialog").getByRole("heading", { level: 2 }).textContent(), id);
	await other.context().close();
	await grid.focus();
	await page.keyboard.press("Control+End");
	await page.keyboard.press("Enter");
	assert.equal(await dialog.getByRole("heading", { level: 2 }).textContent(), id);
	await escape();
	await field.fill("");
});

await step("how often a case failed", async () => {
	const [id] = [...cases].find(([, one]) => one.some(({ result }) => result.outcome === "fail"));
	const other = await open(browser, file, { hash: `#case=${id}` });
	assert.match(await other.getByRole("dialog").locator("section", { has: other.getByRole("heading", { name: "fail" }) }).locator("dl").innerText(), /^Runs\s+failed 8 of 8$/m);
	await other.context().close();
});

await step("an address of what is not on the page says so, where a screen reader reads it", async () => {
	const said = async (hash) => {
		const other = await open(browser, file, { hash });
		const session = await other.context().newCDPSession(other);
		const { nodes } = await session.send("Accessibility.getFullAXTree");
		const found = nodes.find((node) => node.role.value === "dialog");
		await other.context().close();
		return [found.name.value, found.description.value];
	};
	assert.deepEqual(await said("#case=open.size.gone.user&q=status:fail"), ["open.size.gone.user", "This page has no case of this id."]);
	const machine = await open(browser, file, { hash: "#machine=1" });
	assert.match(await machine.getByRole("dialog").locator(".inside > dl").innerText(), /^Program\s+(32|64) bits$/m);
	await machine.context().close();
	assert.deepEqual(await said("#machine=99"), ["Machine 99", "This page has no machine of this number."]);
	const other = await open(browser, file, { hash: "#case=open.size.gone.user" });
	await other.getByRole("dialog").getByRole("link", { name: "cases of open.size" }).click();
	await other.waitForFunction(() => !document.getElementById("dialog").open);
	assert.equal(await other.getByRole("searchbox").inputValue(), "open.size");
	await other.evaluate(() => { location.hash = "#case=no.such"; });
	assert.equal(await other.getByRole("dialog").getByRole("link").count(), 0);
	await other.keyboard.press("Escape");
	await other.waitForFunction(() => !/case=/.test(location.hash));
	await other.context().close();
});

await step("a machine in full", async () => {
	await page.locator(".head .machine").nth(4).click();
	assert.equal(await dialog.getByRole("heading", { level: 2 }).textContent(), "mainframe");
	const tally = (outcome) => reports[4].results.filter((result) => result.outcome === outcome).length;
	assert.equal(await dialog.locator(".promise").textContent(), `${tally("fail")} fail, ${tally("pass")} pass, ${tally("skip")} skip, ${all - reports[4].results.length} absent`);
	assert.equal(await dialog.locator("dd").first().textContent(), "6.12.90-rc2");
	const { identities } = reports[4].environment, callers = ["root", "perfmon", "sys-admin", "user"].filter((name) => identities[name] === "opens events");
	assert.equal(await dialog.locator("dt", { hasText: "Runs as" }).evaluate((dt) => dt.nextElementSibling.textContent), callers.join(", "));
	await escape();
	await grid.focus();
	await page.keyboard.press("Control+Home");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Enter");
	assert.equal(await dialog.count(), 1);
	await escape();
});

await step("names stay text", async () => {
	assert.equal(await page.locator("b").count(), 0);
	assert.equal(await page.locator(".head .host").last().textContent(), HOSTILE);
	await field.fill("onmouseover");
	assert.equal(await grid.locator(".row.case .title").first().textContent(), HOSTILE);
	await field.fill("");
});

await step("roles and names are those of a tree of rows", async () => {
	await page.getByRole("button", { name: "Close all" }).click();
	await grid.focus();
	await page.keyboard.press("Control+Home");
	await page.keyboard.press("Home");
	const session = await page.context().newCDPSession(page);
	const { nodes } = await session.send("Accessibility.getFullAXTree");
	const of = (role) => nodes.filter((node) => !node.ignored && node.role.value === role);
	const [tree] = of("treegrid");
	assert.equal(tree.name.value, "Cases by machine");
	assert.equal(of("columnheader").length, 9);
	assert.equal(of("columnheader")[1].name.value, "build-9, 7.3.4, x86_64");
	const suites = bySuite();
	const table = JSON.parse(await page.locator("#table").textContent());
	const first = table.groups[0].suite, [differ, some] = [different, partial].map((test) => suites.get(first).filter((said) => test(said.map(({ result }) => result), said)).length);
	const n = suites.get(first).length;
	assert.equal(of("rowheader")[1].name.value, `${first}: ${n} case${n === 1 ? "" : "s"}, ${differ} differ, ${some} partial`);
	assert.equal(tree.properties.find((one) => one.name === "activedescendant") !== undefined, true);
	const groupRows = of("row").filter((node) => node.properties.some((one) => one.name === "expanded"));
	assert.equal(groupRows.length, Math.min(suites.size, groupRows.length));
	assert.equal(groupRows.every((node) => node.properties.find((one) => one.name === "expanded").value.value === false), true);
	for (const node of of("gridcell")) assert.match(node.name.value, /: (\d+ (pass|fail|skip|xfail|xpass|error|absent)(, )?)+$/);
	assert.equal(of("button").every((node) => node.name.value), true);
	assert.deepEqual(of("searchbox").map((node) => node.name.value), ["Search cases"]);
});

await step("without JavaScript there is a table, with a row for each case", async () => {
	const plain = await open(browser, file, { javaScriptEnabled: false });
	assert.equal(await plain.locator("table.plain tbody tr:not(.suite)").count(), all);
	assert.equal(await plain.locator("table.plain thead th").count(), 11);
	assert.equal(await plain.locator("table.plain td.differs").count(), count(different));
	assert.equal(await plain.locator("table.plain td.partial").count(), count((results, said) => partial(results, said) && !different(results)));
	for (const answer of ["yes", "no", "denied"])
		assert.equal(await plain.locator(`table.plain td.${answer}`).count(), reports.flatMap((report) => report.results).filter((result) => result.capability === answer).length, answer);
	for (const outcome of ["fail", "skip", "xfail", "xpass", "error"])
		assert.equal(await plain.locator(`table.plain td.${outcome}`).count(), reports.flatMap((report) => report.results).filter((result) => result.outcome === outcome).length, outcome);
	assert.equal(await plain.locator("b").count(), 0);
	assert.equal(await plain.locator("#tools").isVisible(), false);
	await plain.context().close();
});

await step("dark, narrow, printed", async () => {
	const back = (p) => p.evaluate(() => getComputedStyle(document.body).backgroundColor);
	assert.equal(await back(page), "rgb(255, 255, 255)");
	await page.emulateMedia({ colorScheme: "dark" });
	assert.equal(await back(page), "rgb(16, 19, 23)");
	await field.fill("status:pass");
	await page.emulateMedia({ media: "print" });
	assert.equal(await back(page), "rgb(255, 255, 255)");
	await page.waitForFunction((n) => document.querySelectorAll(".row.case").length === n, count(some("pass"))); // all of them, and not those in sight
	assert.equal(await page.locator("#tools").isVisible(), false);
	await page.emulateMedia({ media: "screen", colorScheme: "light" });
	await page.waitForFunction((n) => document.querySelectorAll(".row.case").length < n, count(some("pass")));
	const printed = await page.evaluate(() => {
		dispatchEvent(new Event("beforeprint"));
		const n = document.querySelectorAll(".row.case").length;
		dispatchEvent(new Event("afterprint"));
		return n;
	});
	assert.equal(printed, count(some("pass")));
	assert.equal((await page.pdf()).subarray(0, 5).toString(), "%PDF-");
	const narrow = await open(browser, file, { viewport: { width: 390, height: 800 } });
	assert.equal(await narrow.evaluate(() => document.documentElement.scrollWidth), 390);
	const cut = await narrow.locator(".group .id").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight).map((one) => one.textContent));
	assert.deepEqual(cut, [], "suites whose names a phone cuts");
	await narrow.context().close();
});

await browser.close();
assert.deepEqual(complaints, []);
