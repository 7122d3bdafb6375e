/* SPDX-License-Identifier: MIT */
/* The grid of cases by machines: drawn as far as it is seen, searched, and opened case by case. */
"use strict";
(() => {
	const table = JSON.parse(document.getElementById("table").textContent);
	const machines = table.machines, groups = table.groups;
	const $ = (id) => document.getElementById(id);
	const grid = $("grid"), heads = $("heads"), body = $("rows"), dialog = $("dialog"), field = $("query");

	/* What can come of a case, the worst first: the letter in the table, the word, the sign. */
	const OUTCOMES = [
		["f", "fail", "✕"], ["u", "unstable", "±"], ["e", "error", "!"], ["X", "xpass", "+"], ["x", "xfail", "~"], ["p", "pass", "✓"], ["s", "skip", "–"],
	].map(([letter, word, sign]) => ({ letter, word, sign }));
	/* A capability passes with an answer: in counts it is a pass. */
	const ANSWERS = [["y", "yes", "✓"], ["n", "no", "○"], ["d", "denied", "⊘"]].map(([letter, word, sign]) => ({ letter, word, sign }));
	const ABSENT = { letter: ".", word: "absent", sign: "·" };
	const MEANING = {
		fail: "the promise is broken", unstable: "fails in some runs and passes in others", error: "perfabi could not judge", xpass: "passes, though it is known to fail",
		xfail: "fails, as is known", pass: "the kernel keeps the promise", skip: "cannot run there", absent: "the report says nothing of it",
		yes: "the machine can do it", no: "the machine cannot do it", denied: "the caller may not do it",
	};
	const byLetter = Object.fromEntries([...OUTCOMES, ...ANSWERS, ABSENT].map((o) => [o.letter, o]));
	const byWord = Object.fromEntries([...OUTCOMES, ABSENT, ...ANSWERS].map((o) => [o.word, o]));
	const ALIASES = { x86_64: ["amd64", "x86"], aarch64: ["arm64"], armv7l: ["arm", "armhf"], ppc64le: ["ppc64el", "powerpc"], i686: ["i386", "x86"], riscv64: ["riscv"], s390x: ["s390"] };
	/* How machines are not alike, what matters most first. */
	const UNLIKE = [
		{ is: "different", sign: "≠", word: "differs", means: "the machines that judge it disagree" },
		{ is: "partial", sign: "◐", word: "partial", means: "some machines judge it, and some skip it that judge others" },
	];
	const KEYS = ["status", "is", "kernel", "arch", "host"];
	const BAD = "fueX", AHEAD = 4, BLOCK = 8, NARROW_FROM = 9;

	/* Rows with what a search looks at. */
	const rows = [];
	groups.forEach((group, g) => {
		group.rows = group.rows.map(([about, outcomes]) => {
			const spec = about.spec || {};
			const row = {
				about, outcomes, g, number: rows.length,
				text: [about.id, about.title, about.suite, about.place, about.as, about.kind, spec.man, spec.kernel, spec.since, spec.note].filter(Boolean).join("\n").toLowerCase(),
			};
			row.short = about.id.startsWith(group.suite + ".") ? about.id.slice(group.suite.length + 1) : about.id;
			rows.push(row);
			return row;
		});
		group.isOpen = group.rows.some((row) => [...row.outcomes].some((letter) => BAD.includes(letter)));
	});
	const byId = new Map(rows.map((row) => [row.about.id, row]));
	machines.forEach((machine) => {
		const kind = machine.machine || "";
		machine.arches = [kind, machine.arch, ...(ALIASES[kind] || [])].filter(Boolean).map((text) => text.toLowerCase());
		machine.kernels = [machine.kernel, machine.upstream].filter(Boolean).map((text) => text.toLowerCase());
		machine.label = [machine.name, machine.kernel, machine.machine, machine.note].filter(Boolean).join(", ");
	});

	/*
	 * By its letter's code, a bit for what is said, and one for what it means: those that judge a case agree if
	 * they have the same. What is skipped has none of these, and a report that says nothing none at all.
	 */
	const MEANS = 16, BITS = new Uint32Array(128), INDICES = new Uint8Array(128).fill(OUTCOMES.length);
	ABSENT.index = OUTCOMES.length;
	ABSENT.bit = 0;
	OUTCOMES.forEach((o, i) => {
		o.index = i;
		o.bit = 1 << i;
		BITS[o.letter.charCodeAt(0)] = o.bit | (o.word === "skip" ? 0 : o.bit << MEANS);
		INDICES[o.letter.charCodeAt(0)] = i;
	});
	const { pass, skip } = byWord, NOT_THERE = 1 << (OUTCOMES.length + ANSWERS.length + MEANS), LEAVES = 1 << MEANS - 1;
	ANSWERS.forEach((o, i) => {
		o.index = pass.index;
		o.bit = 1 << (OUTCOMES.length + i);
		BITS[o.letter.charCodeAt(0)] = pass.bit | o.bit | (o.word === "yes" ? pass.bit << MEANS : NOT_THERE);
		INDICES[o.letter.charCodeAt(0)] = pass.index;
	});

	/* What one machine skips that others judge says something, unless it skips all. */
	const judging = BITS.slice();
	judging[skip.letter.charCodeAt(0)] |= LEAVES;
	machines.forEach((machine, m) => { machine.masks = rows.some((row) => BITS[row.outcomes.charCodeAt(m)] >>> MEANS) ? judging : BITS; });

	const state = { query: "", id: null, machine: null, focus: null };
	let shown = []; /* the machines whose columns are there, by index */
	let matched = rows; /* the rows that the query has */
	let list = []; /* what stands in the grid: {group} or {group, row} */
	let closed = new Set(); /* groups that were closed while there is a query */
	let tallies = []; /* by group, of the rows that match */
	let totals = []; /* by column, of all groups */
	let active = { row: 0, column: -1 };
	let drawn = new Map(); /* what of the list is in the document, by index */
	let patterns = []; /* cells to copy, by column and outcome */
	let columns = { first: 0, end: 0 }; /* and which of the shown machines' columns */
	let details = null;
	let isPrinting = false;

	/* Elements: text goes in as text alone. */
	function element(name, properties = {}, ...inside) {
		const e = document.createElement(name);
		for (const [key, value] of Object.entries(properties))
			if (key === "class") e.className = value;
			else if (value !== null && value !== undefined) e.setAttribute(key, value);
		e.append(...inside.filter((part) => part !== null && part !== undefined && part !== ""));
		return e;
	}
	const plural = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

	/* Queries: "status:fail kernel:6.12 some words", all of which must be so. */
	function parse(query) {
		const terms = { machine: [], row: [], wrong: "" };
		for (const [word] of query.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)) take(terms, word);
		return terms;
	}
	function isVersion(kernel, wanted) {
		return kernel.startsWith(wanted) && !/^[0-9]/.test(kernel.slice(wanted.length)) || kernel === wanted;
	}
	/* How many letters to put in, leave out, change or swap make one word of the other. */
	function distance(a, b) {
		const lines = [Array.from({ length: b.length + 1 }, (_, j) => j)];
		for (let i = 1; i <= a.length; i++) {
			lines[i] = [i];
			for (let j = 1; j <= b.length; j++) {
				const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? lines[i - 2][j - 2] + 1 : Infinity;
				lines[i][j] = Math.min(lines[i - 1][j] + 1, lines[i][j - 1] + 1, lines[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1), swapped);
			}
		}
		return lines[a.length][b.length];
	}
	/* What looks like a term, has no such key, and is in no case's text. */
	function wrongKey(word, key) {
		const nearest = KEYS.reduce((best, name) => distance(key, name) < distance(key, best) ? name : best);
		const meant = distance(key, nearest) <= 1 + nearest.length / 4 ? `; did you mean ${nearest}:?` : `; there are ${KEYS.map((name) => `${name}:`).join(", ")}`;
		return `There is no term ${key}:${meant}`;
	}
	function take(terms, word) {
		const at = word.indexOf(":"), key = at > 0 ? word.slice(0, at).toLowerCase() : "";
		const value = (at > 0 ? word.slice(at + 1) : word).replaceAll('"', "").toLowerCase();
		const any = value.split(",").filter(Boolean);
		if (key === "status") {
			const bad = any.find((name) => !byWord[name]);
			if (bad !== undefined || !any.length) terms.wrong = `status: takes ${Object.keys(byWord).join(", ")}`;
			const bits = any.reduce((sum, name) => sum | (byWord[name] && byWord[name].bit), 0), absent = any.includes("absent");
			terms.row.push((row) => (row.mask & bits) !== 0 || (absent && shown.some((m) => row.outcomes[m] === ABSENT.letter)));
		} else if (key === "kernel") terms.machine.push((m) => any.some((v) => m.kernels.some((kernel) => isVersion(kernel, v))));
		else if (key === "arch") terms.machine.push((m) => any.some((v) => m.arches.includes(v)));
		else if (key === "host") terms.machine.push((m) => any.some((v) => m.name.toLowerCase().includes(v)));
		else if (key === "is") {
			if (!IS[value]) terms.wrong = `is: takes ${Object.keys(IS).join(", ")}`;
			terms.row.push(IS[value] || (() => false));
		} else {
			const text = word.replaceAll('"', "").toLowerCase();
			if (/^[a-z]+:/i.test(word) && !rows.some((row) => row.text.includes(text))) terms.wrong = wrongKey(word, key);
			terms.row.push((row) => row.text.includes(text));
		}
	}
	/* What came of a case on the machines shown. */
	function maskOf(row) {
		let mask = 0;
		for (const m of shown) mask |= machines[m].masks[row.outcomes.charCodeAt(m)];
		return mask;
	}
	/* A machine that says nothing of the case is passed over; so is one that skips it, when others disagree. */
	const isDifferent = (row) => {
		const judged = row.mask >>> MEANS;
		return (judged & (judged - 1)) !== 0;
	};
	const isPartial = (row) => row.mask >>> MEANS !== 0 && (row.mask & LEAVES) !== 0;
	const IS = { different: isDifferent, partial: isPartial };

	/* What a query leaves, and the list of it. */
	function search() {
		const terms = parse(state.query);
		shown = machines.map((_, m) => m).filter((m) => terms.machine.every((term) => term(machines[m])));
		const all = shown.length === machines.length;
		for (const row of rows) row.mask = maskOf(row);
		matched = rows.filter((row) => (all || row.mask) && terms.row.every((term) => term(row)));
		tally();
		$("count").className = terms.wrong ? "wrong" : "";
		$("count").textContent = terms.wrong || (state.query.trim() ? `${matched.length.toLocaleString("en")} of ${plural(rows.length, "case")}${all ? "" : `, ${plural(shown.length, "machine")}`}` : "");
		totals = shown.map((_, i) => tallies.reduce((sum, t) => {
			t.counts[i].forEach((n, o) => { sum[o] += n; });
			return sum;
		}, new Uint32Array(OUTCOMES.length + 1)));
		layOut();
		columns = { first: -1, end: -1 };
		drawLegend();
		arrange();
	}
	function tally() {
		tallies = groups.map(() => ({ rows: [], differ: 0, partial: 0, counts: shown.map(() => new Uint32Array(OUTCOMES.length + 1)) }));
		for (const row of matched) {
			const t = tallies[row.g];
			t.rows.push(row);
			if (isDifferent(row)) t.differ++;
			if (isPartial(row)) t.partial++;
			for (let i = 0; i < shown.length; i++) t.counts[i][INDICES[row.outcomes.charCodeAt(shown[i])]]++;
		}
	}
	const isOpen = (group, g) => state.query.trim() ? !closed.has(g) : group.isOpen;
	function arrange() {
		const at = list[active.row];
		list = [];
		groups.forEach((group, g) => {
			if (!tallies[g].rows.length) return;
			list.push({ g, group });
			if (isOpen(group, g)) for (const row of tallies[g].rows) list.push({ g, group, row });
		});
		const stays = at ? list.findIndex((item) => item.g === at.g && item.row === at.row) : 0;
		active.row = Math.max(0, stays >= 0 ? stays : list.findIndex((item) => at && item.g === at.g));
		active.column = Math.min(active.column, shown.length - 1);
		body.style.height = `calc(${list.length} * var(--row))`;
		grid.setAttribute("aria-rowcount", list.length + 2);
		grid.setAttribute("aria-colcount", shown.length + 1);
		$("none").hidden = list.length > 0;
		redraw();
	}

	/* Drawing. */
	const isNarrow = () => shown.length >= NARROW_FROM || (shown.length > 2 && innerWidth < 900);
	function layOut() {
		const narrow = isNarrow();
		grid.className = narrow ? "narrow" : "wide";
		grid.style.setProperty("--n", shown.length);
		if (narrow) grid.style.removeProperty("--col");
		else grid.style.setProperty("--col", shown.length > 5 ? "104px" : "132px");
		sizes.now = null;
	}
	/* A column whose neighbour has another kernel ends with a stronger line. */
	const endsKernel = (i) => i + 1 < shown.length && machines[shown[i]].rank !== machines[shown[i + 1]].rank ? " newer" : "";
	function worstOf(counts) {
		return OUTCOMES.find((o) => counts[o.index]) || ABSENT;
	}
	const sayCounts = (counts) => [...OUTCOMES, ABSENT].filter((o) => counts[o.index]).map((o) => `${counts[o.index]} ${o.word}`).join(", ") || "nothing";
	/* The cells of the columns that are drawn; room is left for those before and behind them. */
	function cells(make) {
		const made = [];
		for (let i = columns.first; i < columns.end; i++) made.push(make(i));
		if (columns.first < columns.end) {
			if (columns.first) made[0].style.marginLeft = `calc(${columns.first} * var(--col))`;
			if (columns.end < shown.length) made[made.length - 1].style.marginRight = `calc(${shown.length - columns.end} * var(--col))`;
		}
		return made;
	}
	function countCell(counts, i) {
		const worst = worstOf(counts), label = `${machines[shown[i]].label}: ${sayCounts(counts)}`;
		return element("div", { role: "gridcell", class: `cell ${worst.word}${endsKernel(i)}`, "aria-colindex": i + 2, "aria-label": label, title: label },
			element("span", { "aria-hidden": "true" }, worst.sign), element("span", { class: "number", "aria-hidden": "true" }, worst === ABSENT ? "" : String(counts[worst.index])));
	}
	/* Most cells are like others of their column: they are copied. */
	function outcomeCell(row, i) {
		const o = byLetter[row.outcomes[shown[i]]], known = patterns[i] || (patterns[i] = []);
		if (!known[o.bit])
			known[o.bit] = element("div", { role: "gridcell", class: `cell ${o.word}${endsKernel(i)}`, "aria-colindex": i + 2, "aria-label": `${machines[shown[i]].label}: ${o.word}` },
				isNarrow.now || o === ABSENT ? o.sign : `${o.sign} ${o.word}`);
		return known[o.bit].cloneNode(true);
	}
	function groupRow(item, index) {
		const t = tallies[item.g], open = isOpen(item.group, item.g);
		const label = `${item.group.suite}: ${plural(t.rows.length, "case")}${t.differ ? `, ${t.differ} differ` : ""}${t.partial ? `, ${t.partial} partial` : ""}`;
		return element("div", { role: "row", class: "row group", "aria-level": 1, "aria-expanded": open, "aria-rowindex": index + 3 },
			element("div", { role: "rowheader", class: "name", "aria-colindex": 1, "aria-label": label },
				element("span", { class: "twist", "aria-hidden": "true" }, open ? "▼" : "▶"), element("span", { class: "id" }, item.group.suite),
				element("span", { class: "tally" }, element("span", { class: "cases" }, plural(t.rows.length, "case")),
					t.differ ? element("span", { class: "differs" }, `≠ ${t.differ}`) : null, t.partial ? element("span", { class: "partial" }, `◐ ${t.partial}`) : null)),
			...cells((i) => countCell(t.counts[i], i)));
	}
	function caseRow(item, index) {
		const row = item.row, unlike = UNLIKE.find((one) => IS[one.is](row)) || { word: "", sign: "" };
		return element("div", { role: "row", class: "row case", "aria-level": 2, "aria-rowindex": index + 3 },
			element("div", { role: "rowheader", class: "name", "aria-colindex": 1, "aria-label": `${row.about.id}${unlike.word && `, ${unlike.word}`}`, title: row.about.title },
				element("span", { class: `unlike ${unlike.word}`, "aria-hidden": "true" }, unlike.sign),
				element("span", { class: "id" }, row.short), element("span", { class: "title" }, row.about.title)),
			...cells((i) => outcomeCell(row, i)));
	}
	function drawItem(index) {
		const item = list[index], e = item.row ? caseRow(item, index) : groupRow(item, index);
		e.style.top = `calc(${index} * var(--row))`;
		e.dataset.index = index;
		return e;
	}
	const rowHeight = () => sizes().row;
	function range() {
		if (isPrinting) return [0, list.length];
		const height = rowHeight();
		const first = Math.floor(grid.scrollTop / height), seen = Math.ceil(grid.clientHeight / height);
		return [Math.max(0, first - AHEAD), Math.min(list.length, first + seen + AHEAD)];
	}
	/* By blocks, so that rows are not drawn anew at each step to the side. */
	function columnsSeen() {
		if (isPrinting || !isNarrow.now) return { first: 0, end: shown.length };
		const { column, names } = sizes();
		const first = Math.floor(Math.max(0, grid.scrollLeft) / column / BLOCK) * BLOCK, seen = Math.ceil((grid.clientWidth - names) / column) + BLOCK;
		return { first: Math.max(0, Math.min(first, shown.length)), end: Math.min(shown.length, first + Math.max(BLOCK, seen)) };
	}
	function sizes() {
		const style = getComputedStyle(grid), size = (name) => parseFloat(style.getPropertyValue(name));
		if (!sizes.now) sizes.now = { column: size("--col"), row: size("--row"), names: size("--name") * (style.getPropertyValue("--name").includes("rem") ? parseFloat(getComputedStyle(document.documentElement).fontSize) : 1) };
		return sizes.now;
	}
	function draw() {
		if (isNarrow.now !== isNarrow()) columns = { first: -1, end: -1 };
		isNarrow.now = isNarrow();
		const seen = columnsSeen();
		if (seen.first !== columns.first || seen.end !== columns.end) {
			columns = seen;
			patterns = [];
			drawHeads();
			drawn = new Map();
			body.replaceChildren();
		}
		const [first, end] = range(), fresh = document.createDocumentFragment();
		for (const [index, e] of drawn)
			if ((index < first || index >= end) && index !== active.row) {
				e.remove();
				drawn.delete(index);
			}
		const add = (index) => {
			if (index < 0 || index >= list.length || drawn.has(index)) return;
			const e = drawItem(index);
			drawn.set(index, e);
			fresh.append(e);
		};
		for (let index = first; index < end; index++) add(index);
		add(active.row);
		body.append(fresh);
		markActive();
	}
	function redraw() {
		drawn = new Map();
		body.replaceChildren();
		draw();
	}
	function headCell(i) {
		const machine = machines[shown[i]], label = machine.label;
		return element("div", { role: "columnheader", class: `cell${endsKernel(i)}`, "aria-colindex": i + 2, "aria-label": label },
			element("button", { type: "button", class: "machine", tabindex: -1, "data-machine": shown[i], title: label, "aria-label": `About ${label}` },
				element("span", { class: "host" }, machine.name), element("span", { class: "about" }, machine.kernel || "kernel not known"),
				element("span", { class: "about" }, [machine.machine, machine.note].filter(Boolean).join(", "))));
	}
	function drawHeads() {
		heads.replaceChildren(
			element("div", { role: "row", class: "row head", "aria-rowindex": 1 }, element("div", { role: "columnheader", class: "name", "aria-colindex": 1 }, "Suite and case"), ...cells(headCell)),
			element("div", { role: "row", class: "row total", "aria-rowindex": 2 },
				element("div", { role: "rowheader", class: "name", "aria-colindex": 1 }, element("span", {}, state.query.trim() ? "All that match" : "All suites"),
					element("span", { class: "tally" }, plural(matched.length, "case"))), ...cells((i) => countCell(totals[i], i))));
	}
	function toggleTerm(term) {
		const words = state.query.split(/\s+/).filter(Boolean);
		return (words.includes(term) ? words.filter((word) => word !== term) : [...words, term]).join(" ");
	}
	function drawLegend() {
		const words = state.query.split(/\s+/), counts = {};
		const unlike = { different: 0, partial: 0 };
		for (const t of tallies) {
			unlike.different += t.differ;
			unlike.partial += t.partial;
		}
		for (const o of OUTCOMES) counts[o.word] = 0;
		for (const row of matched) for (const o of OUTCOMES) if (row.mask & o.bit) counts[o.word]++;
		const button = (term, sign, kind, word, n, title) => element("button", { type: "button", "data-term": term, "aria-pressed": words.includes(term), title, "aria-label": `${word}: ${plural(n, "case")}` },
			element("span", { class: `mark ${kind}`, "aria-hidden": "true" }, sign), word, element("span", { class: "number" }, n.toLocaleString("en")));
		$("legend").replaceChildren(
			...(machines.length > 1 ? UNLIKE.map(({ is, sign, word, means }) => button(`is:${is}`, sign, word, word, unlike[is], means)) : []),
			...OUTCOMES.map((o) => button(`status:${o.word}`, o.sign, o.word, o.word, counts[o.word], MEANING[o.word])));
	}

	/* The cell that the keyboard is at. */
	function markActive() {
		const old = $("active");
		if (old) {
			old.removeAttribute("id");
			old.classList.remove("active");
		}
		const e = active.row < 0 ? heads.firstChild : drawn.get(active.row), cell = e && e.querySelector(`[aria-colindex="${active.column + 2}"]`);
		if (!cell) {
			grid.removeAttribute("aria-activedescendant");
			return;
		}
		cell.id = "active";
		cell.classList.add("active");
		grid.setAttribute("aria-activedescendant", "active");
	}
	function reveal() {
		const height = rowHeight(), top = active.row * height, head = heads.offsetHeight;
		if (active.row >= 0) {
			if (top < grid.scrollTop) grid.scrollTop = top;
			else if (top + height > grid.scrollTop + grid.clientHeight - head) grid.scrollTop = top + height - grid.clientHeight + head;
		}
		const { column, names } = sizes(), left = active.column * column, room = grid.clientWidth - names;
		if (active.column < 0) grid.scrollLeft = 0;
		else if (grid.scrollWidth > grid.clientWidth) grid.scrollLeft = Math.max(left + column - room, Math.min(left, grid.scrollLeft));
		draw();
	}
	function go(row, column) {
		active = { row: Math.max(-1, Math.min(list.length - 1, row)), column: Math.max(-1, Math.min(shown.length - 1, column)) };
		reveal();
	}
	function setOpen(g, open) {
		groups[g].isOpen = open;
		if (open) closed.delete(g);
		else closed.add(g);
		arrange();
		reveal();
	}
	function act() {
		const item = list[active.row];
		if (active.row < 0) return active.column >= 0 && openMachine(shown[active.column]);
		if (!item) return;
		if (!item.row) setOpen(item.g, !isOpen(item.group, item.g));
		else openCase(item.row, active.column >= 0 ? shown[active.column] : null);
	}
	function pressed(event) {
		const item = list[active.row], open = item && !item.row && isOpen(item.group, item.g);
		const page = Math.max(1, Math.floor((grid.clientHeight - heads.offsetHeight) / rowHeight()) - 1);
		const keys = {
			ArrowDown: () => go(active.row + 1, active.column), ArrowUp: () => go(active.row - 1, active.column),
			PageDown: () => go(active.row + page, active.column), PageUp: () => go(Math.max(0, active.row - page), active.column),
			Home: () => event.ctrlKey ? go(0, active.column) : go(active.row, -1), End: () => event.ctrlKey ? go(list.length - 1, active.column) : go(active.row, shown.length - 1),
			ArrowRight: () => active.column < 0 && item && !item.row && !open ? setOpen(item.g, true) : go(active.row, active.column + 1),
			ArrowLeft: () => {
				if (active.column >= 0) go(active.row, active.column - 1);
				else if (open) setOpen(item.g, false);
				else if (item && item.row) go(list.findIndex((other) => other.g === item.g), -1);
			},
			Enter: act, " ": act,
		};
		if (!keys[event.key] || event.altKey || event.metaKey) return;
		event.preventDefault();
		keys[event.key]();
	}

	/* A case in full. */
	const fact = (name, value) => value === undefined || value === null || value === "" ? [] : [element("dt", {}, name), element("dd", {}, value)];
	const text = (value) => element("pre", {}, value);
	function allDetails() {
		return details || (details = JSON.parse($("details").textContent));
	}
	/* What reports say alike but for the call, whose addresses differ, stands together. */
	function saidOf(row) {
		const [said, indices] = allDetails()[row.number], alike = new Map();
		indices.forEach((index, m) => {
			if (index < 0) return;
			const key = JSON.stringify({ ...said[index], call: null });
			if (!alike.has(key)) alike.set(key, { said: said[index], machines: [], calls: new Set() });
			alike.get(key).machines.push(m);
			alike.get(key).calls.add(said[index].call);
		});
		return [...alike.values()];
	}
	function deviationFacts(deviation, whose) {
		if (!deviation) return [];
		const list = (value) => Array.isArray(value) ? value.join(", ") : value;
		const more = [["since", deviation.since], ["fixed in", deviation.fixed], ["seen on", list(deviation.seen)], ["source read of", list(deviation.read)]].filter(([, value]) => value).map(([name, value]) => `${name} ${value}`).join("; ");
		const name = typeof deviation.function === "string" ? `${deviation.function}()` : "";
		return [...fact(whose === "machine" ? "Known of the machine, not its kernel" : "Known", element("span", {}, name ? element("code", {}, name) : "", ` ${deviation.why || ""}`)), ...fact("", more), ...fact("", deviation.note)];
	}
	const asText = (value) => typeof value === "string" ? value : value === undefined || value === null ? undefined : JSON.stringify(value);
	function saidBlock(block, from) {
		const { said } = block, o = said.outcome === "pass" && byWord[said.capability] || byWord[said.outcome], here = block.machines.includes(from);
		const several = block.calls.size > 1 ? element("small", {}, ` as ${machines[block.machines[0]].name} made it; the others differ`) : null;
		return element("section", { class: `said${here ? " here" : ""}` },
			element("h3", {}, element("span", { class: `mark ${o.word}`, "aria-hidden": "true" }, o.sign), o.word, element("small", {}, `on ${plural(block.machines.length, "machine")}: ${MEANING[o.word]}`)),
			element("ul", { class: "where", "aria-label": "Machines" }, ...block.machines.map((m) => element("li", { class: m === from ? "here" : "" }, element("bdi", {}, machines[m].name), " ", element("small", {}, [machines[m].kernel, machines[m].machine, machines[m].note].filter(Boolean).join(" "))))),
			element("dl", {}, ...fact("Call", said.call && element("span", {}, text(said.call), several || "")), ...fact("Expected", said.expected && text(said.expected)), ...fact("Got", said.got && text(said.got)),
				...fact("Gate", Array.isArray(said.phases) && said.phases.length ? said.phases.map(asText).join(" or ") : ""), ...fact("Requires", said.token && text(said.token)), ...fact("Capability", said.capability === o.word ? "" : asText(said.capability)),
				...fact("Reason", said.deviation ? "" : said.reason), ...fact("Runs", said.tried ? `failed ${said.tried.failed} of ${said.tried.runs}` : said.runs > 1 ? `${said.runs}, of which ${said.differed || 0} came out otherwise` : ""), ...deviationFacts(said.deviation, said.whose)));
	}
	function copyButton(what) {
		const button = element("button", { type: "button", "aria-label": "Copy the command" }, "Copy");
		button.addEventListener("click", async () => {
			try {
				await navigator.clipboard.writeText(what);
				button.textContent = "Copied";
			} catch {
				getSelection().selectAllChildren(button.previousElementSibling);
			}
		});
		return button;
	}
	function bar(title, link) {
		const close = element("button", { type: "button", "aria-label": "Close" }, "Close ", element("kbd", {}, "Esc"));
		close.addEventListener("click", () => dialog.close());
		return element("div", { class: "bar" }, element("h2", { id: "dialog-title" }, title), link && element("a", { href: link, id: "permalink" }, "Link"), close);
	}
	const shellWords = (words) => words.map((word) => /^[\w\-+=./:@%,]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).join(" ");
	/* Each command that runs a case again as a machine ran it; first that of the machine it was opened at. */
	function againFacts(row, from) {
		const commands = new Map(), said = machines.map((_, m) => m).filter((m) => row.outcomes[m] !== ABSENT.letter && machines[m].again);
		for (const m of said.sort((a, b) => (b === from) - (a === from) || a - b)) {
			const command = shellWords([...machines[m].again, row.about.id]);
			commands.set(command, [...(commands.get(command) || []), machines[m].name]);
		}
		return [...commands].flatMap(([command, names], i) => [element("dt", {}, i ? "" : "Again"), element("dd", {}, element("div", { class: "again" }, text(command), copyButton(command)),
			commands.size > 1 ? element("small", {}, "as on ", element("bdi", {}, names[0]), names.length > 1 ? ` and ${plural(names.length - 1, "other")}` : "") : "")]);
	}
	function fillCase(row, from) {
		const about = row.about, spec = about.spec || {};
		const who = [about.as, about.vehicle && `with ${about.vehicle}`, about.kind === "capability" ? "a capability: what a machine can do" : ""].filter(Boolean).join("; ");
		dialog.replaceChildren(bar(about.id, hashOf({ ...state, id: about.id, machine: null })),
			element("div", { class: "inside" }, element("p", { class: "promise" }, about.title || "What this case is about, no report says."),
				element("dl", {}, ...fact("As", who), ...fact("Man page", asText(spec.man)), ...fact("Kernel", spec.kernel && element("code", {}, asText(spec.kernel))), ...fact("Since", asText(spec.since)), ...fact("Note", asText(spec.note)),
					...fact("Case", about.place && element("code", {}, about.place)), ...againFacts(row, from)),
				...saidOf(row).map((block) => saidBlock(block, from))));
	}
	function fillMachine(m) {
		const machine = machines[m], counts = new Uint32Array(OUTCOMES.length + 1);
		for (const row of rows) counts[INDICES[row.outcomes.charCodeAt(m)]]++;
		dialog.replaceChildren(bar(machine.name, hashOf({ ...state, id: null, machine: m })),
			element("div", { class: "inside" }, element("p", { class: "promise" }, sayCounts(counts)),
				element("dl", {}, ...fact("Kernel", machine.kernel), ...fact("Upstream", machine.upstream !== machine.kernel ? machine.upstream : ""), ...fact("Machine", machine.machine), ...fact("Program", machine.bits && `${machine.bits} bits`),
					...fact("System", machine.distribution), ...fact("Processor", machine.cpu_model), ...fact("Cpus", machine.cpus_online && String(machine.cpus_online)), ...fact("Pages", machine.page_size && `${machine.page_size} bytes`),
					...fact("Attr size", machine.attr_size && `${machine.attr_size} bytes`), ...fact("Paranoid", machine.paranoid !== undefined ? String(machine.paranoid) : ""), ...fact("Hypervisor", machine.hypervisor), ...fact("Container", machine.container),
					...fact("Options", machine.options), ...fact("Runs as", machine.callers.join(", ")), ...fact("Time", machine.time), ...fact("perfabi", machine.perfabi), ...fact("Cases", machine.cases && element("code", {}, machine.cases)),
					...fact("Report", machine.file), ...fact("", machine.cut ? "The run did not come to its end." : ""))));
	}
	/* An address of another page, or of an older one. What is near is what begins like the case. */
	function fillNone() {
		let near = state.id || "";
		while (near && !rows.some((row) => row.about.id.startsWith(`${near}.`))) near = near.slice(0, Math.max(0, near.lastIndexOf(".")));
		const what = state.id === null ? "This page has no machine of this number." : "This page has no case of this id.";
		dialog.replaceChildren(bar(state.id === null ? `Machine ${state.machine + 1}` : state.id, null),
			element("div", { class: "inside" }, element("p", { class: "promise", id: "dialog-says" }, what),
				near && element("p", {}, "It has ", element("a", { href: hashOf({ query: near, id: null, machine: null }) }, `cases of ${near}`), ".")));
	}
	function showDialog() {
		const row = state.id === null ? null : byId.get(state.id), m = state.machine;
		if (row) fillCase(row, state.focus);
		else if (state.id === null && machines[m]) fillMachine(m);
		else if (state.id !== null || m !== null) fillNone();
		else {
			if (dialog.open) dialog.close();
			return;
		}
		if (!dialog.open) dialog.showModal();
		dialog.scrollTop = 0;
	}
	function openCase(row, m) {
		state.focus = m;
		navigate({ id: row.about.id, machine: null });
	}
	const openMachine = (m) => navigate({ id: null, machine: m });

	/* The address has the query, and the case that is open. */
	function hashOf({ query, id, machine }) {
		const parts = new URLSearchParams();
		if (query.trim()) parts.set("q", query.trim());
		if (id !== null) parts.set("case", id);
		if (machine !== null) parts.set("machine", machine + 1);
		return `#${parts}`;
	}
	function navigate(change, replace = false) {
		Object.assign(state, change);
		const hash = hashOf(state);
		if (hash !== (location.hash || "#")) history[replace ? "replaceState" : "pushState"](null, "", hash);
		showDialog();
	}
	function setQuery(query, replace) {
		if (query === state.query) return;
		closed = new Set();
		navigate({ query }, replace);
		grid.scrollTop = 0;
		search();
	}
	function readHash() {
		const parts = new URLSearchParams(location.hash.slice(1)), query = parts.get("q") || "", number = parseInt(parts.get("machine"), 10);
		const changed = query !== state.query;
		Object.assign(state, { query, id: parts.get("case"), machine: number > 0 ? number - 1 : null });
		field.value = query;
		if (changed) {
			closed = new Set();
			search();
		}
		showDialog();
	}

	function describe() {
		const kernels = [...new Set(machines.map((machine) => machine.kernel).filter(Boolean))];
		const span = kernels.length > 3 ? `${kernels.length} kernels, ${kernels[0]} to ${kernels[kernels.length - 1]}` : kernels.map((kernel) => `Linux ${kernel}`).join(", ");
		$("about").textContent = [plural(machines.length, "machine"), span, `${plural(rows.length, "case")} in ${plural(groups.length, "suite")}`].filter(Boolean).join(" · ");
		const notes = [], versions = [...new Set(machines.map((machine) => machine.perfabi).filter(Boolean))], hashes = new Set(machines.map((machine) => machine.cases).filter(Boolean));
		if (versions.length > 1) notes.push(`The reports are of several versions of perfabi: ${versions.join(", ")}.`);
		if (hashes.size > 1) notes.push(`The machines did not all have the same cases: ${hashes.size} sets of case files. A dot means that a report says nothing of a case.`);
		for (const machine of machines) if (machine.cut) notes.push(`The run on ${machine.label} did not come to its end.`);
		$("notes").replaceChildren(...notes.map((note) => element("li", {}, note)));
		$("notes").hidden = !notes.length;
	}
	function listen() {
		let typed = 0;
		field.addEventListener("input", () => {
			const now = performance.now();
			setQuery(field.value, now - typed < 1000);
			typed = now;
		});
		$("form").addEventListener("submit", (event) => {
			event.preventDefault();
			grid.focus();
		});
		field.addEventListener("keydown", (event) => {
			if (event.key === "Escape" && field.value) {
				field.value = "";
				setQuery("", false);
				event.preventDefault();
			} else if (event.key === "Escape" || event.key === "ArrowDown") {
				grid.focus();
				event.preventDefault();
			}
		});
		document.addEventListener("keydown", (event) => {
			if (event.key !== "/" || dialog.open || event.target === field || event.ctrlKey || event.altKey || event.metaKey) return;
			event.preventDefault();
			field.focus();
			field.select();
		});
		$("legend").addEventListener("click", (event) => {
			const button = event.target.closest("button");
			if (!button) return;
			const { term } = button.dataset;
			field.value = toggleTerm(term);
			setQuery(field.value, false);
			$("legend").querySelector(`[data-term="${term}"]`).focus();
		});
		const setAll = (open) => {
			groups.forEach((group) => { group.isOpen = open; });
			closed = new Set(open ? [] : groups.keys());
			arrange();
		};
		$("open-all").addEventListener("click", () => setAll(true));
		$("close-all").addEventListener("click", () => setAll(false));
		heads.addEventListener("click", (event) => {
			const button = event.target.closest("[data-machine]");
			if (button) openMachine(Number(button.dataset.machine));
		});
		body.addEventListener("click", (event) => {
			const e = event.target.closest(".row"), cell = event.target.closest(".cell, .name");
			if (!e || !cell || String(getSelection())) return;
			active = { row: Number(e.dataset.index), column: Number(cell.getAttribute("aria-colindex")) - 2 };
			markActive();
			act();
		});
		grid.addEventListener("keydown", pressed);
		grid.addEventListener("scroll", draw, { passive: true });
		dialog.addEventListener("click", (event) => {
			if (event.target === dialog) dialog.close();
		});
		dialog.addEventListener("close", () => {
			if (dialog.open) return; /* it was opened again meanwhile */
			dialog.replaceChildren();
			grid.focus({ preventScroll: true });
			if (state.id !== null || state.machine !== null) navigate({ id: null, machine: null });
		});
		addEventListener("hashchange", readHash);
		new ResizeObserver(() => {
			sizes.now = null;
			if (isNarrow() !== isNarrow.now) {
				layOut();
				redraw();
			} else draw();
		}).observe(grid);
		const print = (now) => {
			isPrinting = now;
			sizes.now = null;
			redraw();
		};
		addEventListener("beforeprint", () => print(true));
		addEventListener("afterprint", () => print(false));
		matchMedia("print").addEventListener("change", (event) => print(event.matches));
	}

	for (const id of ["tools", "legend", "grid"]) $(id).hidden = false;
	describe();
	listen();
	search();
	readHash();
})();
