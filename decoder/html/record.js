/* SPDX-License-Identifier: MIT */
/* A member that is pointed at, or has the focus, is marked among the bytes and in the JSON. */
"use strict";
(() => {
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
