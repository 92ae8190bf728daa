// axi in a terminal that is a web page: xterm.js in a Chromium without a window, a pty behind it. A question typed, the
// streamed answer read, an approval answered, a picture looked at, in colours, links and a resize between.
//
//   node tests/web_terminal.mjs target/debug/axi [FOLDER FOR SCREENSHOTS]
//
// Needs the packages @xterm/xterm, @xterm/addon-image, @xterm/addon-unicode11, node-pty and puppeteer-core where node finds them (npm install
// --no-save …, in the folder that this is run from), and Chromium (CHROMIUM=PATH, else `chromium` of the search path).
import { createServer } from "node:http";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createRequire } from "node:module";
import { crc32, deflateSync } from "node:zlib";

const require = createRequire(join(process.cwd(), "package.json"));
const pty = require("node-pty");
const puppeteer = require("puppeteer-core");

const [program, pictures] = process.argv.slice(2);
if (!program) {
  console.error("usage: node tests/web_terminal.mjs PROGRAM [FOLDER]");
  process.exit(2);
}
const pause = (time) => new Promise((done) => setTimeout(done, time));

// A square of two colours, as a PNG.
function square(side) {
  const rows = Array.from({ length: side }, (_, y) =>
    Buffer.concat([Buffer.from([0]), ...Array.from({ length: side }, () => Buffer.from(y < side / 2 ? [220, 30, 30] : [30, 30, 220]))]),
  );
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32 ? crc32(body) : sumOf(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", deflateSync(Buffer.concat(rows))), chunk("IEND", Buffer.alloc(0))]);
}
// Node before 22.2 has no crc32.
function sumOf(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

// A model that says a first half, and the second one only when the page has shown the first; then asks for a command.
let shown;
const half = new Promise((done) => (shown = done));
const asked = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  if (request.method !== "POST") return response.end('{"data":[]}');
  asked.push(body);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta, reason = null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`);
  if (asked.length === 1) {
    send({ content: "The **first** half, with `code` and 字.\n\nThen " });
    await half;
    send({ content: "the second half.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n" });
    send({}, "stop");
  } else if (asked.length === 2) {
    const call = { name: "shell", arguments: '{"command":"touch made.txt"}' };
    send({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] });
    send({}, "tool_calls");
  } else {
    send({ content: asked.length === 3 ? "It is made." : "A square: red above, blue below." });
    send({}, "stop");
  }
  response.end("data: [DONE]\n\n");
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

const home = mkdtempSync(join(tmpdir(), "axi-web-"));
mkdirSync(join(home, ".config/axi"), { recursive: true });
// The add-on takes iTerm2's way and sixels; a page of its own says neither in its environment.
writeFileSync(join(home, ".config/axi/config.toml"), 'inline_images = "iterm2"\n[providers.openai.models.any]\nvision = true\n');
writeFileSync(join(home, "square.png"), square(96));
const [columns, rows] = [90, 28];

const found = process.env.CHROMIUM ?? execFileSync("sh", ["-c", "command -v chromium || command -v chromium-browser || command -v google-chrome"]).toString().trim();
// As root Chromium has no sandbox of its own; the page is ours and loads nothing.
const browser = await puppeteer.launch({ executablePath: found, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.setViewport({ width: 860, height: 560 });
page.on("pageerror", (error) => console.log(`page: ${error.message}`));
await page.setContent('<body style="margin:0;background:#111"><div id="terminal"></div></body>');
const part = (name) => join(process.cwd(), "node_modules", name);
await page.addStyleTag({ content: readFileSync(part("@xterm/xterm/css/xterm.css"), "utf8") });
for (const name of ["@xterm/xterm/lib/xterm.js", "@xterm/addon-image/lib/addon-image.js", "@xterm/addon-unicode11/lib/addon-unicode11.js"]) {
  await page.addScriptTag({ content: readFileSync(part(name), "utf8") });
}
let child;
await page.exposeFunction("typed", (text) => child?.write(text));
await page.evaluate(
  (cols, rows) => {
    const terminal = new Terminal({ cols, rows, allowProposedApi: true, scrollback: 5000, fontSize: 14 });
    window.terminal = terminal;
    window.images = new ImageAddon.ImageAddon();
    terminal.loadAddon(window.images);
    terminal.loadAddon(new Unicode11Addon.Unicode11Addon());
    terminal.unicode.activeVersion = "11";
    terminal.open(document.getElementById("terminal"));
    terminal.onData((text) => window.typed(text));
    terminal.focus();
  },
  columns,
  rows,
);
child = pty.spawn(resolve(program), [], {
  name: "xterm-256color",
  cols: columns,
  rows,
  cwd: home,
  env: {
    HOME: home,
    PATH: process.env.PATH,
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    LANG: "C.UTF-8",
    OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`,
    OPENAI_API_KEY: "sk-x",
    AXI_MODEL: "openai/any",
  },
});
// One write after the other, as a socket would bring them.
let written = Promise.resolve();
child.onData((data) => {
  written = written.then(() => page.evaluate((data) => new Promise((done) => window.terminal.write(data, done)), data)).catch(() => {});
});
let ended = null;
child.onExit(({ exitCode }) => (ended = exitCode));

const text = () =>
  page.evaluate(() => {
    const buffer = window.terminal.buffer.active;
    return Array.from({ length: buffer.length }, (_, row) => buffer.getLine(row).translateToString(true)).join("\n");
  });
let failed = 0;
const check = async (what, good) => {
  console.log(`${good ? "ok  " : "FAIL"} ${what}`);
  if (good) return;
  failed += 1;
  console.log((await text()).trimEnd().split("\n").slice(-30).join("\n"));
};
const until = async (what, seen, limit = 60000) => {
  for (let begun = Date.now(); Date.now() - begun < limit; await pause(30)) {
    if (await seen(await text())) return check(what, true);
  }
  return check(what, false);
};
const shoot = async (name) => {
  if (!pictures) return;
  if (!existsSync(pictures)) mkdirSync(pictures, { recursive: true });
  await pause(300);
  await page.screenshot({ path: join(pictures, `${name}.png`) });
};
const at_rest = (seen) => /❯\s*$/.test(seen.trimEnd());

// Keys of the page, not bytes of the pty: what a person presses.
await until("the prompt", at_rest);
await page.keyboard.type("what comes in two halves? 字");
await page.keyboard.press("Enter");
await until("the first half is there before the second one is sent", (seen) => seen.includes("first half"));
await shoot("1-streaming");
shown();
await until("the second half, a table, the prompt", (seen) => seen.includes("second half") && seen.includes("│") && at_rest(seen));
await shoot("2-answer");
await page.keyboard.type("make a file");
await page.keyboard.press("Enter");
await until("the question", (seen) => seen.includes("Run this command?"));
await shoot("3-question");
await page.evaluate(() => window.terminal.resize(70, 24));
child.resize(70, 24);
await pause(300);
await page.keyboard.press("y");
await until("the answer to it", (seen) => seen.includes("It is made.") && at_rest(seen));
await check("the command ran", existsSync(join(home, "made.txt")));
await shoot("4-approved");
await page.keyboard.type("@squ");
await until("the menu of files", (seen) => seen.includes("› square.png"));
await page.keyboard.press("Tab");
await until("Tab takes the file", (seen) => seen.includes("@square.png"));
await page.keyboard.type(" what is on it?");
await page.keyboard.press("Enter");
await until("what it says of the picture", (seen) => seen.includes("red above") && at_rest(seen));
const drawn = () =>
  page.evaluate(() => {
    const buffer = window.terminal.buffer.active;
    for (let row = 0; row < buffer.length; row += 1) {
      const image = window.images.getImageAtBufferCell(2, row);
      if (image) return [image.width, image.height, ...image.getContext("2d").getImageData(image.width / 2, image.height / 4, 1, 1).data];
    }
    return null;
  });
await until("the picture is drawn, red above", async () => {
  const pixel = await drawn();
  return pixel && pixel[2] > 180 && pixel[4] < 80;
}, 5000);
await check("the model got it", asked.at(-1).includes("data:image/png;base64"));
await shoot("5-picture");
await page.keyboard.down("Control");
await page.keyboard.press("d");
await page.keyboard.up("Control");
for (let begun = Date.now(); ended === null && Date.now() - begun < 10000; ) await pause(20);
await check("it leaves", ended === 0);
const modes = await page.evaluate(() => ({ ...window.terminal.modes }));
await check("no mode is left on", !modes.bracketedPasteMode && !modes.sendFocusMode && modes.mouseTrackingMode === "none");
await browser.close();
server.close();
rmSync(home, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
