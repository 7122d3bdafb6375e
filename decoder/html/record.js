/* SPDX-License-Identifier: MIT */
/* A member that is pointed at, or has the focus, is marked among the bytes and in the JSON. */
"use strict";
(() => {
	/* The members of a record's header, which "at" does not have, come first. */
	const header = { type: [0, 4], misc: [4, 2], size: [6, 2] };
	const make = (name, text) => Object.assign(document.createElement(name), { textContent: text });
	function member(number, text) {
		const span = make("span", text);
		span.className = `m c${number % 8}`;
		span.dataset.m = number;
		return span;
	}
	/* A line of JSON, token by token: a number of 64 bits stays exact. `places`: where each member is; null: none is marked. */
	function write(pre, places) {
		const tokens = pre.textContent.match(/"(?:[^"\\]|\\.)*"|[^"[\]{},:]+|./gs) || [], names = places ? Object.keys(places) : [];
		let next = 0;
		function value(to, path, depth) {
			const open = tokens[next++], close = { "{": "}", "[": "]" }[open];
			to.append(open);
			if (!close) return;
			for (let count = 0; next < tokens.length && tokens[next] !== close; next += tokens[next] === ",") {
				if (open === "[") {
					if (count++) to.append(", ");
					value(to, path, depth + 1);
					continue;
				}
				const key = tokens[next].slice(1, -1), full = path ? `${path}.${key}` : key, number = names.indexOf(full);
				next += 2;
				if (full === "at" && !depth) {
					value(make("i", ""), "", 1);
					continue;
				}
				to.append((count++ ? "," : "") + (!depth ? "\n  " : count > 1 ? " " : ""));
				const into = number < 0 ? to : member(number, "");
				into.append(make("b", key), ": ");
				value(into, full, depth + 1);
				if (number < 0) continue;
				into.tabIndex = 0;
				if (!(full in header)) into.append(make("small", places[full].join("+")));
				to.append(into);
			}
			next++;
			to.append((!depth && open === "{" ? "\n" : "") + close);
		}
		const written = document.createDocumentFragment();
		value(written, "", 0);
		pre.replaceChildren(written);
	}
	/* Bytes of one member that stand together in a row are one piece, in hexadecimal and as text. */
	function colour(pre, places) {
		const rows = pre.textContent.split("\n").slice(0, -1), owner = [];
		Object.values(places).forEach(([offset, length], number) => {
			for (let i = offset; i < offset + length && i < 16 * rows.length; i++) owner[i] ??= number;
		});
		pre.replaceChildren(...rows.flatMap((row, r) => {
			const parts = [make("i", row.slice(0, 4)), "  "], size = row.slice(6, 54).trimEnd().length + 1;
			for (const [from, width, last] of [[6, 3, 2], [55, 1, 1]]) {
				for (let at = 0, end; 3 * at < size; at = end) {
					const number = owner[16 * r + at];
					for (end = at + 1; 3 * end < size && owner[16 * r + end] === number; end++);
					const text = row.slice(from + width * at, from + width * (end - 1) + last);
					parts.push(number === undefined ? text : member(number, text), 3 * end < size && width > 1 ? " " : "");
				}
				if (width > 1) parts.push(" ".repeat(48 - size + 2));
			}
			return [...parts, "\n"];
		}));
	}
	for (const pre of document.querySelectorAll(".json")) {
		const hex = pre.parentElement.querySelector(".hex"), places = hex && { ...header, ...JSON.parse(pre.textContent).at };
		write(pre, places);
		if (hex) colour(hex, places);
	}

	let marked = [];
	function mark(event) {
		for (const e of marked) e.classList.remove("on");
		const of = (e) => e && e.closest && e.closest("[data-m]"), left = event.type === "focusout";
		const at = (!left && of(event.target)) || of(left ? event.relatedTarget : document.activeElement);
		marked = at ? [...at.closest("section").querySelectorAll(`[data-m="${at.dataset.m}"]`)] : [];
		for (const e of marked) e.classList.add("on");
	}
	document.addEventListener("mouseover", mark);
	document.addEventListener("focusin", mark);
	document.addEventListener("focusout", mark);
	document.addEventListener("keydown", (event) => {
		const at = document.activeElement.closest(".json [data-m]");
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (!at || !step) return;
		const all = [...at.closest(".json").querySelectorAll("[data-m]")], next = all[all.indexOf(at) + step];
		if (!next) return;
		event.preventDefault();
		next.focus();
	});
})();
