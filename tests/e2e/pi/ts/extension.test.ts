/** The parts of the extension that need no session: run by Node.js's own test runner. */

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { BOOT_TYPE, storedBlock, windowOf, withBlock } from "./boot.ts";
import { difference } from "./diff.ts";
import { collapse, given, plain, summary, told } from "./draw.ts";
import { Helper } from "./helper.ts";
import { choice, reach } from "./project.ts";
import { remainingTokens } from "./remaining.ts";
import { newEntrySync } from "./session.ts";
import { parseAnswer, parseLine, parseProjectAnswer } from "./wire.ts";

const entry = (id: string) => ({ id });
const text = (entry: object) => JSON.stringify(entry);
const header = { type: "session", id: "s" };

// -- entries of a session without a file ---------------------------------------

test("entries are sent once, the header first", () => {
	const sync = newEntrySync();
	const a = entry("a");
	assert.deepEqual(sync.news(header, [a]), { reset: true, entries: [text(header), text(a)] });
	assert.equal(sync.news(header, [a]), undefined);
	assert.deepEqual(sync.news(header, [a, entry("b")]), { reset: false, entries: [text(entry("b"))] });
});

test("another session begins again", () => {
	const sync = newEntrySync();
	sync.news(header, [entry("a"), entry("b")]);
	assert.equal(sync.news(header, [entry("x"), entry("y")])?.reset, true);
	assert.equal(sync.news(null, [entry("x")])?.reset, true);
});

test("a session without entries is sent with its header alone", () => {
	const sync = newEntrySync();
	assert.deepEqual(sync.news(header, []), { reset: true, entries: [text(header)] });
	assert.equal(sync.news(header, [entry("a")])?.reset, true);
});

// -- the boot block ------------------------------------------------------------

const stored = (window: string, text: string, v: unknown = 1): any => ({
	type: "custom",
	customType: BOOT_TYPE,
	data: { v, session: "s1", window, text, ts: 1 },
});

test("a window is named by its last compaction", () => {
	const branch: any[] = [{ type: "message", id: "m" }];
	assert.equal(windowOf(branch), "root");
	branch.push({ type: "compaction", id: "c1" }, { type: "message", id: "n" }, { type: "compaction", id: "c2" });
	assert.equal(windowOf(branch), "c2");
});

test("the newest sound block of the window is found", () => {
	const branch = [stored("root", "old"), stored("root", "new"), stored("c1", "other"), stored("root", "v2", 2)];
	assert.equal(storedBlock(branch, "s1", "root")?.text, "new");
	assert.equal(storedBlock(branch, "s1", "c9"), undefined);
	assert.equal(storedBlock(branch, "the fork of s1", "root"), undefined);
	assert.equal(storedBlock([{ type: "custom", customType: BOOT_TYPE, data: null } as any], "s1", "root"), undefined);
});

test("the block stands behind system message and summary", () => {
	const roles = (messages: string[]) =>
		withBlock(messages.map((role) => ({ role })) as any[], "text", 1).map((message) => message.role);
	assert.deepEqual(roles(["system", "user"]), ["system", "custom", "user"]);
	assert.deepEqual(roles(["system", "compactionSummary", "user"]), ["system", "compactionSummary", "custom", "user"]);
	assert.deepEqual(roles(["user", "compactionSummary"]), ["custom", "user", "compactionSummary"]);
	assert.deepEqual(roles([]), ["custom"]);
});

// -- the context that remains --------------------------------------------------

const remaining = (tokens: number | null, compaction?: object, model: object | undefined = { provider: "p", id: "m" }) =>
	remainingTokens({ compaction } as any, { model, getContextUsage: () => ({ tokens, contextWindow: 100_000 }) } as any);

test("the reserve is the model's own, the general one, or Pi's", () => {
	const modelOverrides = { "p/m": { reserveTokens: 10 }, "p/other": { reserveTokens: 20 } };
	assert.equal(remaining(1000, { reserveTokens: 5, modelOverrides }), 98_990);
	assert.equal(remaining(1000, { reserveTokens: 5 }), 98_995);
	assert.equal(remaining(1000), 100_000 - 1000 - 16_384);
	assert.equal(remaining(99_999), 0);
});

test("what Pi does not know is a failure", () => {
	assert.throws(() => remaining(null), /does not know/);
	assert.throws(() => remainingTokens({} as any, { getContextUsage: () => undefined } as any), /does not know/);
});

// -- the project tools -----------------------------------------------------------

test("the setting is one of Pi's exposures or off, and anything else is told", () => {
	assert.deepEqual(choice(undefined), { choice: "deferred" });
	assert.deepEqual(choice(""), { choice: "deferred" });
	for (const one of ["codemode", "direct", "deferred", "off"] as const) assert.deepEqual(choice(one), { choice: one });
	assert.equal(choice("Direct").choice, "deferred");
	assert.match(choice("Direct").complaint ?? "", /HINDNOTE_PROJECT_TOOLS is none of deferred, codemode, direct, off/);
});

test("the tools are named in codemode, unless it lists every tool", () => {
	const usual = reach("codemode", {}, ["one", "two"]);
	assert.equal(usual.exposure, "codemode");
	assert.match(usual.namespace?.description ?? "", /: one, two\. /);
	assert.deepEqual(reach("codemode", { codemode: { mode: "only" } }, ["one"]), { exposure: "codemode" });
	assert.equal(reach("direct", {}, []).exposure, "direct");
});

test("an answer of a project tool is drawn from its summary and rows", () => {
	assert.equal(told({ summary: "2 todos", rows: ["a", "b"] }), "2 todos\na\nb");
	assert.equal(told({ summary: "1 todo", rows_omitted: 1 }), "1 todo\n(1 row is too much to show)");
	assert.equal(told({ summary: "9 todos", rows_omitted: 9 }), "9 todos\n(9 rows are too much to show)");
});

// -- drawing -------------------------------------------------------------------

test("nothing but text and line breaks reaches the terminal", () => {
	assert.equal(plain("a\u001b[31mb\u0007\r\nc\td\u009b"), "a\\x1b[31mb\\x07\\x0d\nc   d\\x9b");
	assert.equal(plain("\u202eevil\u2066 \u200ftext\u2028"), "\\u202eevil\\u2066 \\u200ftext\\u2028");
});

test("a call is told in one short line", () => {
	assert.equal(summary({ path: "todos/a.md", to_status: "ready" }), "path=todos/a.md to_status=ready");
	assert.equal(summary({ address: "@project/plan", content: "…", cwd: "/x" }), "@project/plan cwd=/x");
	assert.equal(summary({ query: ["a", "b"], seq: 0 }), 'seq=0 query=["a","b"]');
	assert.equal(summary(undefined), "");
	assert.equal(summary({ address: "a\nb" }), "a b");
	assert.equal(summary({ address: "x".repeat(500) }).length, 120);
});

test("an expanded call tells every argument whole", () => {
	const edits = [{ old_text: "a\nb", new_text: "" }, { old_text: "c", new_text: "d" }];
	assert.deepEqual(given({ address: "plan", content: "one\ntwo", limit: 5, roles: ["user", "tool"], edits, set: { tags: [] } }), [
		"address: plan",
		"content:",
		"  one",
		"  two",
		"limit: 5",
		'roles: ["user","tool"]',
		"edits:",
		"  - old_text:",
		"      a",
		"      b",
		'    new_text: ""',
		"  - old_text: c",
		"    new_text: d",
		"set:",
		"  tags: []",
	]);
	assert.deepEqual(given(undefined), []);
	assert.deepEqual(given({ query: "x".repeat(500) }), [`query: ${"x".repeat(500)}`]);
});

const numbered = (count: number) => Array.from({ length: count }, (_, index) => String(index));

test("a collapsed result tells how much it hides, and never hides one line alone", () => {
	for (const count of [0, 1, 8, 9]) {
		assert.deepEqual(collapse(numbered(count), false), { head: numbered(count), hidden: 0, notices: [] });
	}
	for (const count of [10, 20]) {
		assert.deepEqual(collapse(numbered(count), false), { head: numbered(8), hidden: count - 8, notices: [] });
		assert.deepEqual(collapse(numbered(count), true), { head: numbered(count), hidden: 0, notices: [] });
	}
});

test("a notice of what is left out is never hidden", () => {
	for (const notice of [
		"[truncated; continue at offset_chars=12000]",
		"more: 7 (limit or narrower words reach them)",
		"page_older: {\"before_seq\":4}",
		"incomplete: todos 20 of 31",
		"[1 more line left out to stay within the size of one answer]",
		"this text: 3 of 9 lines left out",
		"(1 row is too much to show)",
	]) {
		const lines = [...numbered(20), notice, "effects: documents none, cache none"];
		assert.deepEqual(collapse(lines, false), { head: numbered(8), hidden: 13, notices: [notice] });
		assert.equal(collapse([...numbered(9), notice], false).hidden, 0);
	}
	assert.deepEqual(collapse([...numbered(20), "page_older: null"], false).notices, []);
});

// -- an update's difference ----------------------------------------------------

const lines = (count: number, text = "line") => Array.from({ length: count }, (_, index) => `${text} ${index}`).join("\n");

test("a difference is in Pi's display format", () => {
	assert.deepEqual(difference("a\nb\nc", "a\nB\nc"), { diff: " 1 a\n-2 b\n+2 B\n 3 c", firstChangedLine: 2 });
	assert.equal(difference("a", "a"), undefined);
	assert.equal(difference("", "a")?.firstChangedLine, 1);
	assert.equal(difference("aa", "aaa")?.diff, "-1 aa\n+1 aaa");
});

test("a small change of a long text is compared, a large one is not", () => {
	const long = lines(50_000);
	assert.equal(difference(long, long.replace("line 40000", "changed"))?.firstChangedLine, 40_001);
	const start = performance.now();
	assert.match(difference(lines(20_000, "old"), lines(20_000, "new"))?.diff ?? "", /not shown: too much differs .* lines/);
	assert.match(difference("x".repeat(200_000), "y")?.diff ?? "", /200,001 characters/);
	assert.ok(performance.now() - start < 1000);
});

// -- what the process sends ----------------------------------------------------

test("lines of another shape are refused", () => {
	for (const line of ["", "null", "{}", '{"id":1,"ok":true,"value":1}', '{"id":"1","ok":false}', '{"ready":{}}'])
		assert.throws(() => parseLine(line), line);
	assert.throws(() => parseAnswer({ result: {}, text: "t", isError: "no", extras: {} }));
	const sound = { result: {}, blocks: ["a", "b"], details: { tool: "t", summary: "s", counts: {} }, isError: false };
	assert.deepEqual(parseProjectAnswer(sound), sound);
	assert.throws(() => parseProjectAnswer({ ...sound, blocks: "a" }));
});

function fake(script: string): Helper {
	const path = join(mkdtempSync(join(tmpdir(), "fake-")), "python");
	writeFileSync(path, `#!${process.execPath}\n${script}`);
	chmodSync(path, 0o755);
	return new Helper(() => path);
}

const READY = `console.log(JSON.stringify({ready: {protocol: 2, pid: 1}}));`;
const ECHO = `${READY}
	let buffered = "";
	process.stdin.setEncoding("utf8").on("data", (chunk) => {
		const lines = (buffered + chunk).split("\\n");
		buffered = lines.pop();
		lines.forEach((line) => receive(JSON.parse(line)));
	});
	function receive({id, type, ...rest}) {
		if (type === "crash") process.exit(3);
		if (type === "echo") console.log(JSON.stringify({id, ok: true, value: rest.value}));
		if (type === "fail") console.log(JSON.stringify({id, ok: false, failure: {kind: "host", message: "told"}}));
	}`;

test("requests are matched by id, whatever the chunks", async () => {
	const helper = fake(ECHO);
	const values = ["a", "ü\u2028\n", "x".repeat(300_000)];
	const answers = await Promise.all(values.map((value) => helper.request({ message: { type: "echo", value } })));
	assert.deepEqual(answers, values);
	await assert.rejects(helper.request({ message: { type: "fail" } }), /^Error: told$/);
	await helper.stop();
	await assert.rejects(helper.request({ message: { type: "echo" } }), /has ended/);
});

test("a crash fails what is in flight, and the next request starts another process", async () => {
	const helper = fake(ECHO);
	await helper.request({ message: { type: "echo", value: 1 } });
	const both = [helper.request({ message: { type: "hang" } }), helper.request({ message: { type: "crash" } })];
	for (const outcome of await Promise.allSettled(both)) {
		assert.equal(outcome.status, "rejected");
		assert.match(String(outcome.reason), /exit 3.*unknown/);
	}
	assert.equal(await helper.request({ message: { type: "echo", value: 2 } }), 2);
	await helper.stop();
});

test("an aborted request is rejected at once and cancelled", async () => {
	const helper = fake(ECHO);
	const control = new AbortController();
	const request = helper.request({ message: { type: "hang" }, signal: control.signal });
	control.abort();
	await assert.rejects(request, /Operation aborted/);
	await assert.rejects(helper.request({ message: { type: "echo" }, signal: control.signal }), /Operation aborted/);
	await helper.stop();
});

test("a process of another protocol, of no protocol, or that cannot start is told", async () => {
	for (const [script, told] of [
		[READY.replace("protocol: 2", "protocol: 1") + "setInterval(() => {}, 1000); process.stdin.on('end', () => process.exit()).resume();", /hindnote install pi/],
		["console.log('hello'); setInterval(() => {}, 1000);", /no response/],
		["process.exit(4)", /exit 4.*before it was ready; run `hindnote doctor`/],
		["console.error(\"python3: No module named 'hindnote'\"); process.exitCode = 1;", /exit 1.*No module named 'hindnote' before.*install hindnote again/],
	] as const) {
		const helper = fake(script);
		await assert.rejects(helper.request({ message: { type: "echo" } }), told);
		await helper.stop();
	}
	const helper = new Helper(() => "/nowhere/python");
	await assert.rejects(helper.request({ message: { type: "echo" } }), /could not be run.*; install hindnote again/);
	await helper.stop();
});

test("a process that does not end by itself is ended", async () => {
	const helper = fake(`${ECHO} setInterval(() => {}, 1000);`);
	await helper.request({ message: { type: "echo", value: 1 } });
	const start = performance.now();
	await helper.stop();
	assert.ok(performance.now() - start < 5000);
});
