// SPDX-License-Identifier: MIT
// The search: sections of the pages, in index.js, that have every word; those with it in their heading come first.
"use strict";
const box = document.getElementById("search");
const field = box.querySelector("input");
const list = document.getElementById("found");
const MOST = 30;
let chosen = -1;

// A word counts where another begins with it, most in a heading.
function score(section, words) {
	let sum = 0;
	for (const word of words) {
		const inTitle = section.title.toLowerCase().indexOf(word);
		const inText = section.lower.indexOf(word);
		if (inTitle < 0 && inText < 0) return 0;
		sum += inTitle === 0 ? 12 : inTitle > 0 ? 8 : 1;
	}
	return sum;
}

function excerpt(text, words) {
	const at = Math.max(0, Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0), text.length));
	const from = at === text.length ? 0 : text.lastIndexOf(" ", Math.max(0, at - 60)) + 1;
	return (from ? "… " : "") + text.slice(from, from + 180) + (from + 180 < text.length ? " …" : "");
}

// Text as text, with the words marked.
function marked(parent, text, words) {
	let rest = text;
	while (rest) {
		const hits = words.map((word) => [rest.toLowerCase().indexOf(word), word]).filter(([place]) => place >= 0).sort(([a], [b]) => a - b);
		if (!hits.length) break;
		const [place, word] = hits[0];
		parent.append(rest.slice(0, place), Object.assign(document.createElement("mark"), { textContent: rest.slice(place, place + word.length) }));
		rest = rest.slice(place + word.length);
	}
	parent.append(rest);
}

function choose(at) {
	const options = [...list.querySelectorAll("[role=option]")];
	chosen = options.length ? (at + options.length) % options.length : -1;
	options.forEach((option, i) => option.setAttribute("aria-selected", i === chosen));
	if (chosen < 0) return field.removeAttribute("aria-activedescendant");
	field.setAttribute("aria-activedescendant", options[chosen].id);
	options[chosen].scrollIntoView({ block: "nearest" });
}

function show(open) {
	list.hidden = !open;
	field.setAttribute("aria-expanded", open);
}

function search() {
	const words = [...new Set(field.value.toLowerCase().split(/\s+/).filter(Boolean))];
	list.replaceChildren();
	choose(-1);
	if (!words.length) return show(false);
	const found = INDEX.map((section) => [score(section, words), section]).filter(([value]) => value).sort(([a], [b]) => b - a).slice(0, MOST);
	found.forEach(([, section], i) => {
		const item = Object.assign(document.createElement("li"), { id: `found-${i}` });
		item.setAttribute("role", "option");
		item.dataset.href = box.dataset.top + section.href;
		const title = item.appendChild(document.createElement("b"));
		marked(title, section.page === section.title ? section.title : `${section.page}: ${section.title}`, words);
		marked(item.appendChild(document.createElement("span")), excerpt(section.text, words), words);
		item.addEventListener("click", () => go(item));
		list.append(item);
	});
	if (!found.length) {
		const none = Object.assign(document.createElement("li"), { className: "none", textContent: "No section has all of these words." });
		none.setAttribute("role", "presentation");
		list.append(none);
	}
	show(true);
	choose(found.length ? 0 : -1);
}

function go(item) {
	show(false);
	location.href = item.dataset.href;
}

for (const section of INDEX) section.lower = section.text.toLowerCase();
box.hidden = false;
field.addEventListener("input", search);
field.addEventListener("focus", search);
field.addEventListener("keydown", (event) => {
	const selected = list.querySelector("[aria-selected=true]");
	if (event.key === "ArrowDown") choose(chosen + 1);
	else if (event.key === "ArrowUp") choose(chosen < 0 ? -1 : chosen - 1);
	else if (event.key === "Enter" && selected && !list.hidden) go(selected);
	else if (event.key === "Escape") show(false);
	else return;
	event.preventDefault();
});
document.addEventListener("keydown", (event) => {
	if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /^(input|textarea)$/i.test(event.target.tagName)) return;
	event.preventDefault();
	field.focus();
	field.select();
});
document.addEventListener("click", (event) => {
	if (!box.contains(event.target)) show(false);
});
