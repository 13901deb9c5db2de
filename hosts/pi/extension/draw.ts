/** How calls and their results look in the terminal: collapsed to a few lines, or whole. */

import { renderDiff, type Theme, type ToolDefinition } from "@earendil-works/pi-coding-agent";
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

const HIDDEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Make text safe for the terminal: no control characters but line breaks, no marks that turn the reading direction. */
export function plain(text: string): string {
	return text.replaceAll("\t", "   ").replace(HIDDEN, "");
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

/** Keep the first lines; tell how many are left out. */
export function collapse(lines: string[], expanded: boolean): { shown: string[]; hidden: number } {
	const shown = expanded ? lines : lines.slice(0, COLLAPSED);
	return { shown, hidden: lines.length - shown.length };
}

/** A project tool's result for a person, who has no use for the JSON that the model reads. */
export function told({ summary, rows = [], rows_omitted }: Summary): string {
	return [summary, ...rows, ...(rows_omitted ? [`(${rows_omitted} rows are too much to show)`] : [])].join("\n");
}

function body(result: Parameters<Draw["renderResult"]>[0], isError: boolean, theme: Theme): string[] {
	const parts = result.content.map((part) => (part.type === "text" ? part.text : ""));
	// The last block tells what was left out and what was changed.
	const text = Value.Check(Summary, result.details)
		? `${told(result.details)}\n${parts.at(-1)}`
		: parts.join("\n");
	const color = isError ? "error" : "toolOutput";
	const lines = plain(text)
		.split("\n")
		.map((line) => theme.fg(color, line));
	if (!Value.Check(Details, result.details)) return lines;
	return [...lines, ...renderDiff(plain(result.details.diff)).split("\n")];
}

/** The renderers of one tool. */
export function drawing(name: string): Draw {
	return {
		renderCall(args, theme, context) {
			const text = context.lastComponent instanceof Text ? context.lastComponent : new Text("", 0, 0);
			const about = summary(args);
			text.setText(theme.fg("toolTitle", theme.bold(name)) + (about && ` ${theme.fg("accent", about)}`));
			return text;
		},
		renderResult(result, { expanded, isPartial }, theme, context) {
			const text = context.lastComponent instanceof Text ? context.lastComponent : new Text("", 0, 0);
			if (isPartial) return text;
			const { shown, hidden } = collapse(body(result, context.isError, theme), expanded);
			if (hidden > 0) {
				const hint = context.keyHint("app.tools.expand", "to expand");
				shown.push(`${theme.fg("muted", `… ${hidden} more lines,`)} ${hint}`);
			}
			text.setText(shown.join("\n"));
			return text;
		},
	};
}
