/**
 * The boot block: the first thing that the agent reads in each window.
 *
 * A window begins with the session or with a compaction. Its block is built once and
 * stored as an entry, and from then on every request carries the stored text, so that
 * the start of the request stays the same and the provider's cache keeps it.
 */

import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

/** Type of the stored entry, and of the message made from it. */
export const BOOT_TYPE = "hindnote-boot";

const Block = Type.Object({
	v: Type.Literal(1),
	// A fork copies the entries of the session that it was made from, their blocks too.
	session: Type.String(),
	window: Type.String(),
	text: Type.String(),
	ts: Type.Number(),
});

export type Block = Static<typeof Block>;

/** Name the window that the branch ends in. */
export function windowOf(branch: readonly SessionEntry[]): string {
	return branch.findLast((entry) => entry.type === "compaction")?.id ?? "root";
}

/** Find the block that was stored for a window of a session. */
export function storedBlock(
	branch: readonly SessionEntry[],
	session: string,
	window: string,
): Block | undefined {
	for (const entry of branch.toReversed()) {
		if (entry.type !== "custom" || entry.customType !== BOOT_TYPE) continue;
		if (!Value.Check(Block, entry.data)) continue;
		if (entry.data.session === session && entry.data.window === window) return entry.data;
	}
	return undefined;
}

/** Put the block behind the system message and the compaction's summary. */
export function withBlock(messages: readonly AgentMessage[], text: string, ts: number): AgentMessage[] {
	let at = messages[0]?.role === "system" ? 1 : 0;
	if (messages[at]?.role === "compactionSummary") at++;
	const block: AgentMessage = {
		role: "custom",
		customType: BOOT_TYPE,
		content: text,
		display: false,
		timestamp: ts,
	};
	return [...messages.slice(0, at), block, ...messages.slice(at)];
}
