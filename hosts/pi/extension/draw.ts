/** How calls and their results look in the terminal: collapsed to a few lines, or whole. */

import { renderDiff, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { Summary } from "./wire.ts";

/** What is stored with a result for its drawing: an update's diff. */
export const Details = Type.Object({ diff: Type.String(), firstChangedLine: Type.Optional(Type.Number()) });
export type Details = Static<typeof Details>;

type Draw = Required<Pick<ToolDefinition, "renderCall" | "renderResult">>;

/** Lines of a collapsed result. */
const COLLAPSED = 8;
/** The arguments that say what a call is about, in the order in which they are shown. */
const TELLING = ["address", "path", "title", "to_status", "session", "seq", "query", "glob", "rename_to", "cwd"];

// What a terminal must not get: the list of core/text/controls.py, which explains it; a test compares both.
const HIDDEN =
	/[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\ud800-\udfff]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])|(?<![^\x00-\x7f]|[#*0-9])[\ufe00-\ufe0f]/gu;

/** Make text safe for the terminal: characters that it would obey or hide are escaped. */
export function plain(text: string): string {
	return text.replaceAll("\t", "   ").replace(HIDDEN, (hidden) => {
		const code = (hidden.codePointAt(0) ?? 0).toString(16);
		if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
		return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
	});
}

/** Describe the arguments of a call in one short line. */
export function summary(args: unknown): string {
	const given = (args ?? {}) as Record<string, unknown>;
	const shown = TELLING.filter((key) => given[key] !== undefined).map((key) => {
		const value = given[key];
		const text = typeof value === "string" ? value : JSON.stringify(value);
		return key === "address" ? text : `${key}=${text}`;
	});
	const line = plain(shown.join(" ")).replaceAll("\n", " ");
	return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

/** Tell every argument of a call whole, a line each; texts of several lines and edits go on below their name. */
export function given(args: unknown, indent = ""): string[] {
	return Object.entries((args ?? {}) as Record<string, unknown>).flatMap(([key, value]) => {
		const below = `${indent}  `;
		if (typeof value === "string" && value.includes("\n")) {
			return [`${indent}${key}:`, ...value.split("\n").map((line) => below + line)];
		}
		if (typeof value === "string" && value !== "") return [`${indent}${key}: ${value}`];
		if (Array.isArray(value) && value.length > 0 && value.every(isObject)) {
			return [`${indent}${key}:`, ...value.flatMap((one) => item(given(one, `${below}  `), below))];
		}
		if (isObject(value)) return [`${indent}${key}:`, ...given(value, below)];
		return [`${indent}${key}: ${JSON.stringify(value)}`];
	});
}

function isObject(value: unknown): value is object {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Mark the first of an item's lines, which are indented by two more. */
function item(lines: string[], indent: string): string[] {
	return lines.map((line, index) => (index === 0 ? `${indent}- ${line.slice(indent.length + 2)}` : line));
}

/** What the core writes into a line, near the end of an answer, that tells of something left out. */
const NOTICE = new RegExp(
	[
		"\\[truncated; ",
		"\\[\\d+ more lines? left out",
		"this text: ",
		"incomplete: ",
		"structured output failed: ",
		"\\w+: \\d+ more, withheld",
		"\\(\\d+ rows? (is|are) too much",
		"(more|lookups_omitted|sessions_remaining|sessions_skipped|damaged_lines|note): ",
		"page_(older|newer): (?!null)",
	]
		.map((start) => `^${start}`)
		.join("|"),
);

/** Keep the first lines and the notices of what is left out; tell how many others are hidden, never one alone. */
export function collapse(lines: string[], expanded: boolean): { head: string[]; hidden: number; notices: string[] } {
	const notices = lines.slice(COLLAPSED).filter((line) => NOTICE.test(line)).slice(-COLLAPSED);
	const hidden = lines.length - COLLAPSED - notices.length;
	// A line that says so would take the place of the one that it hides.
	if (expanded || hidden <= 1) return { head: lines, hidden: 0, notices: [] };
	return { head: lines.slice(0, COLLAPSED), hidden, notices };
}

/** A project tool's result for a person, who has no use for the JSON that the model reads. */
export function told({ summary, rows = [], rows_omitted }: Summary): string {
	const omitted = rows_omitted === 1 ? "1 row is" : `${rows_omitted} rows are`;
	return [summary, ...rows, ...(rows_omitted ? [`(${omitted} too much to show)`] : [])].join("\n");
}

/** The lines of a result; expanded, also what a model alone has use for. */
function body(result: Parameters<Draw["renderResult"]>[0], expanded: boolean): string[] {
	const parts = result.content.map((part) => (part.type === "text" ? part.text : ""));
	if (!Value.Check(Summary, result.details)) return plain(parts.join("\n")).split("\n");
	// The last block tells what was left out and what was changed.
	return plain([told(result.details), ...(expanded ? parts : parts.slice(-1))].join("\n")).split("\n");
}

function lineOf(context: { lastComponent: unknown }): Text {
	return context.lastComponent instanceof Text ? context.lastComponent : new Text("", 0, 0);
}

/** The renderers of one tool. */
export function drawing(name: string): Draw {
	return {
		renderCall(args, theme, context) {
			const text = lineOf(context);
			const title = theme.fg("toolTitle", theme.bold(name));
			const about = context.expanded ? given(args).map(plain).map((line) => `\n${line}`).join("") : ` ${summary(args)}`;
			text.setText(about.trim() === "" ? title : title + theme.fg("accent", about));
			return text;
		},
		renderResult(result, { expanded, isPartial }, theme, context) {
			const text = lineOf(context);
			if (isPartial) return text;
			const diff = Value.Check(Details, result.details) ? renderDiff(plain(result.details.diff)).split("\n") : [];
			const { head, hidden, notices } = collapse([...body(result, expanded), ...diff], expanded);
			const color = context.isError ? "error" : "toolOutput";
			const colored = (line: string) => (diff.includes(line) ? line : theme.fg(color, line));
			const shown = head.map(colored);
			if (hidden > 0) {
				const hint = context.keyHint("app.tools.expand", "to expand");
				shown.push(`${theme.fg("muted", `… ${hidden} more lines,`)} ${hint}`);
			}
			text.setText([...shown, ...notices.map(colored)].join("\n"));
			return text;
		},
	};
}
