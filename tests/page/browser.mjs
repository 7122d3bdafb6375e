// SPDX-License-Identifier: MIT
// A Chromium without a network, whose every complaint counts.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const PATIENCE = 600_000; // ms: ends a hang, and nothing that is merely slow

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: ARGUMENTS, timeout: PATIENCE });

// A page in a context of its own; complaints are those of all pages, and what they asked of the network or, but for those within a folder, of other files.
export const complaints = [];
export async function open(browser, file, { hash = "", within, ...options } = {}) {
	const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
	context.setDefaultTimeout(PATIENCE);
	const own = within ? (request) => request.url().startsWith(pathToFileURL(within).href)
		: (request) => request.url().startsWith("data:") || request.url().startsWith("file:") && request.resourceType() === "document";
	const page = await context.newPage();
	page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
	page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
	page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
	page.on("request", (request) => {
		if (!own(request)) complaints.push(`request: ${request.url()}`);
	});
	await page.goto(pathToFileURL(file) + hash);
	return page;
}
export const noComplaints = (what) => assert.deepEqual(complaints, [], what);
