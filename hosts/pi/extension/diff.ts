/** An update's difference, for the person at the terminal. */

import { generateDiffString } from "@earendil-works/pi-coding-agent";
import type { Details } from "./draw.ts";

/** What changed may have so many lines, old and new together: Pi compares in the square of them, and stands still. */
const LINES = 2_000;
/** And so many characters, since the difference is stored in the session. */
const CHARACTERS = 100_000;

/** Compare two texts in Pi's display format; undefined when they are the same. Texts too different to be compared say so. */
export function difference(before: string, after: string): Details | undefined {
	if (before === after) return undefined;
	const changed = [between(before, after), between(after, before)];
	const size = (count: (text: string) => number) => changed.reduce((sum, text) => sum + count(text), 0);
	const characters = size((text) => text.length);
	const lines = size((text) => text.split("\n").length);
	if (characters > CHARACTERS || lines > LINES) {
		const told = `${lines.toLocaleString("en")} lines, ${characters.toLocaleString("en")} characters`;
		return { diff: `   [not shown: too much differs between both texts (${told})]` };
	}
	return generateDiffString(before, after);
}

/** The part of a text between what it begins and what it ends with like another one. */
function between(text: string, other: string): string {
	const shorter = Math.min(text.length, other.length);
	let start = 0;
	while (start < shorter && text[start] === other[start]) start++;
	let end = 0;
	while (end < shorter - start && text.at(-1 - end) === other.at(-1 - end)) end++;
	return text.slice(start, text.length - end);
}
