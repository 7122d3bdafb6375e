// SPDX-License-Identifier: MIT
// The rows of perfabi probe --format jsonl in DuckDB, and the questions of docs/probe.md.
// usage: node probed.mjs HOSTS ROWS.jsonl...   Each file is one machine; HOSTS hosts are simulated, each like one of them.
import { createWriteStream, readFileSync, rmSync } from "node:fs";
import { once } from "node:events";
import { DuckDBInstance } from "@duckdb/node-api";

const [hosts, ...files] = process.argv.slice(2);
const machines = files.map((file) => readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line)));
const fleet = files[0] + ".fleet";

// Every host has the rows that the questions are about, as a fleet that is asked every day would have them.
const out = createWriteStream(fleet);
for (let i = 0; i < Number(hosts); i++) {
  const machine = machines[i % machines.length];
  const host = { host: `host-${i}`, boot_id: `boot-${i}` };
  const lines = machine.filter((row) => row.key.startsWith("event.cycles.") || row.key.startsWith("limits."))
    .map((row) => JSON.stringify({ ...row, ...host }));
  if (!out.write(lines.join("\n") + "\n")) await once(out, "drain");
}
out.end();
await once(out, "close");

const db = await (await DuckDBInstance.create(":memory:")).connect();
const ask = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const list = (paths) => `[${paths.map((path) => `'${path.replaceAll("'", "''")}'`).join(", ")}]`;
const load = (table, paths) => db.run(`CREATE TABLE ${table} AS SELECT * FROM read_json(${list(paths)}, format = 'newline_delimited')`);

const began = performance.now();
await load("fleet", [fleet]);
const loaded = performance.now();
const cannot = await ask(`SELECT host, kernel, because FROM fleet
  WHERE key = 'event.cycles.samples' AND caller = 'root' AND answer <> 'yes'`);
const asked = performance.now();
await load("probed", files);
const differing = await ask(`SELECT key, list(DISTINCT kernel ORDER BY kernel) FILTER (answer = 'yes') AS kernels_that_can
  FROM probed WHERE caller = 'root' GROUP BY key HAVING count(DISTINCT answer) > 1 ORDER BY key`);
const [{ rows, named }] = await ask("SELECT count(*) AS rows, count(DISTINCT host) AS named FROM fleet");

// The same, counted here.
const is_without = (machine) => machine.some((row) => row.key === "event.cycles.samples" && row.caller === "root" && row.answer !== "yes");
const without = machines.map((machine, i) => (is_without(machine) ? Math.ceil((Number(hosts) - i) / machines.length) : 0)).reduce((a, b) => a + b, 0);
const answers = {};
for (const row of machines.flat().filter((row) => row.caller === "root")) (answers[row.key] ??= new Set()).add(row.answer);
const differ = Object.keys(answers).filter((key) => answers[key].size > 1).length;
console.log(`${named} hosts, ${rows} rows loaded in ${Math.round(loaded - began)} ms; ${cannot.length} cannot sample cycles, ` +
  `asked in ${Math.round(asked - loaded)} ms; ${differing.length} capabilities differ between ${machines.length} machines`);
rmSync(fleet);
if (Number(named) !== Number(hosts) || cannot.length !== without || differing.length !== differ || cannot.some((row) => !row.because)) {
  console.error(`expected ${hosts} hosts, ${without} that cannot sample cycles, ${differ} that differ`);
  process.exit(1);
}
