// axi in the emulator of VS Code's terminal, without a window: prompt, wide characters, menu, ghost text, a large paste,
// an answer that streams while the size changes at any time.
//
//   node tests/xterm.mjs target/debug/axi [SEED]
//
// NARROWING=1 has it become narrower while text comes, too (words are lost then, to any program); DUMP=FILE keeps what
// stands there at the end. Needs the packages @xterm/headless and node-pty where node finds them (npm install --no-save @xterm/headless node-pty).
import { createServer } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createRequire } from "node:module";

const require = createRequire(join(process.cwd(), "package.json"));
const { Terminal } = require("@xterm/headless");
const pty = require("node-pty");

const [program, seed = "1"] = process.argv.slice(2);
if (!program) {
  console.error("usage: node tests/xterm.mjs PROGRAM [SEED]");
  process.exit(2);
}
const WORDS = 3000;
const pause = (time) => new Promise((done) => setTimeout(done, time));
let state = Number(seed);
const random = (most) => {
  state = (state * 1103515245 + 12345) % 2147483648;
  return state % most;
};

// A model that says numbered words, in paragraphs, a few at a time.
const word = (number) => `w${String(number).padStart(5, "0")}` + (number % 97 === 0 ? "字" : "");
const server = createServer(async (request, response) => {
  request.resume();
  if (request.method !== "POST") {
    response.end('{"data":[]}');
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta, reason = null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`);
  for (let number = 1; number <= WORDS; number += 1) {
    send({ content: word(number) + (number % 60 === 0 ? "\n\n" : " ") });
    if (number % 10 === 0) await pause(5);
  }
  send({}, "stop");
  response.end("data: [DONE]\n\n");
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

const home = mkdtempSync(join(tmpdir(), "axi-xterm-"));
writeFileSync(join(home, "notes.md"), "notes\n");
const terminal = new Terminal({ cols: 80, rows: 24, scrollback: 100000, allowProposedApi: true });
const child = pty.spawn(resolve(program), [], {
  name: "xterm-256color",
  cols: 80,
  rows: 24,
  cwd: home,
  env: {
    HOME: home,
    PATH: process.env.PATH,
    TERM: "xterm-256color",
    TERM_PROGRAM: "vscode",
    LANG: "C.UTF-8",
    OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`,
    OPENAI_API_KEY: "sk-x",
    AXI_MODEL: "openai/words",
  },
});
child.onData((data) => terminal.write(data));
terminal.onData((data) => child.write(data));
let ended = null;
child.onExit(({ exitCode }) => (ended = exitCode));

// History and screen, wrapped rows joined.
const text = () => {
  const buffer = terminal.buffer.active;
  const lines = [];
  for (let index = 0; index < buffer.length; index += 1) {
    const line = buffer.getLine(index);
    if (line.isWrapped && lines.length) lines[lines.length - 1] += line.translateToString(true);
    else lines.push(line.translateToString(true));
  }
  return lines.join("\n");
};
let failed = 0;
const check = (what, good) => {
  console.log(`${good ? "ok  " : "FAIL"} ${what}`);
  if (!good) {
    failed += 1;
    console.log(text().split("\n").slice(-30).join("\n"));
  }
};
const until = async (what, seen, limit = 60000) => {
  for (let begun = Date.now(); Date.now() - begun < limit; await pause(20)) {
    if (seen(text())) return check(what, true);
  }
  check(what, false);
};

await until("the prompt", (seen) => seen.includes("❯"));
child.write("你好 👩‍💻 e\u0301x");
await until("wide characters, once", (seen) => seen.split("你好").length === 2 && seen.includes("x"));
child.write("\x7f\x7f\x7f\x7f");
await until("a cluster goes as one", (seen) => /❯ 你好 *$/m.test(seen.trimEnd()));
child.write("\x15/");
await until("the menu", (seen) => seen.includes("› /"));
child.write("\x1b");
await until("ESC closes it", (seen) => !seen.includes("›"));
child.write("\x15@no");
await until("files", (seen) => seen.includes("› notes.md"));
child.write("\t");
await until("Tab takes one", (seen) => seen.includes("@notes.md") && !seen.includes("›"));
child.write("\x15");
await until("an empty line", (seen) => !seen.includes("@notes"));
const paste = Array.from({ length: 10000 }, (_, row) => `row ${row} of some log`).join("\r");
child.write(`\x1b[200~${paste}\x1b[201~`);
await until("10,000 lines as a block", (seen) => seen.includes("[pasted 10,000 lines]"));
child.write("\x7f");
await until("which goes as one", (seen) => !seen.includes("[pasted"));
child.write("speak\r");
await until("the answer begins", (seen) => seen.includes("w00010"));
// While text comes the terminal only grows: xterm.js cuts the row of the cursor off when it becomes narrower
// (BufferReflow leaves the cursor's line to the program), whatever writes there; afterwards it does all.
const resize = (columns, rows) => {
  terminal.resize(columns, rows);
  child.resize(columns, rows);
};
let sizes = 0;
const narrowing = process.env.NARROWING === "1";
while (!text().includes(word(WORDS)) && sizes < 2000) {
  resize(narrowing ? 20 + random(140) : Math.min(80 + sizes * 2, 240), 5 + random(40));
  sizes += 1;
  await pause(random(60));
}
await until("the prompt again", (seen) => /❯\s*$/.test(seen.trimEnd()));
for (let change = 0; change < 40; change += 1) {
  resize(20 + random(140), 5 + random(40));
  sizes += 1;
  await pause(random(60));
}
resize(100, 30);
await pause(500);
const said = text().slice(text().indexOf("w00001")).match(/w\d{5}/g) ?? [];
const wanted = Array.from({ length: WORDS }, (_, index) => word(index + 1).slice(0, 6));
const wrong = wanted.findIndex((one, index) => said[index] !== one);
check(`each word once, in order, over ${sizes} sizes`, wrong < 0 && said.length === WORDS);
const counts = new Map();
for (const one of said) counts.set(one, (counts.get(one) ?? 0) + 1);
const lost = wanted.filter((one) => !counts.has(one));
const twice = [...counts].filter(([, count]) => count > 1).map(([one]) => one);
if (wrong >= 0) console.log(`lost ${lost.length}: ${lost.slice(0, 20).join(" ")}; more than once ${twice.length}: ${twice.slice(0, 20).join(" ")}`);
if (process.env.DUMP) writeFileSync(process.env.DUMP, text());
if (wrong >= 0) console.log(`at ${wanted[wrong]}: ${said.slice(Math.max(0, wrong - 3), wrong + 5).join(" ")}`);
child.write("\x04");
await until("it leaves", () => ended === 0);
server.close();
rmSync(home, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
