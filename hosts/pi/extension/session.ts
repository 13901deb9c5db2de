/** What the running session is, as hindnote's process needs to know it. */

import { resolve } from "node:path";
import { type ExtensionContext, getAgentDir } from "@earendil-works/pi-coding-agent";
import type { HostFacts } from "./wire.ts";

/** Read the session's place afresh: it moves while the extension runs. */
export function hostFacts(ctx: ExtensionContext, callId?: string): HostFacts {
	const session = ctx.sessionManager;
	const file = session.getSessionFile();
	const header = session.getHeader();
	return {
		cwd: ctx.cwd,
		sessionId: session.getSessionId(),
		// It can be relative, to the directory in which Pi runs.
		sessionFile: file && resolve(file),
		leafId: session.getLeafId() ?? undefined,
		callId,
		agentDir: getAgentDir(),
		model: ctx.model?.id,
		live: file === undefined,
		// Pi writes a fork's file with its first answer; until then only Pi knows its header.
		parentSession: header?.parentSession,
		started: header?.parentSession ? header.timestamp : undefined,
	};
}

/** The session's own entries, for a session that has no file. */
export function liveEntries(ctx: ExtensionContext) {
	const session = ctx.sessionManager;
	if (session.getSessionFile() !== undefined) return undefined;
	return { header: session.getHeader(), entries: session.getEntries() };
}

export interface EntrySync {
	/** What has to be sent so that the process knows these entries; undefined: it does. */
	news(
		header: object | null,
		entries: readonly { id: string }[],
	): { reset: boolean; entries: readonly string[] } | undefined;
}

/** Sends each entry once: a session's entries only ever grow, until it is another one. */
export function newEntrySync(): EntrySync {
	let sent = 0;
	let last: string | undefined;
	return {
		news(header, entries) {
			const grew = last !== undefined && entries[sent - 1]?.id === last;
			const added = grew ? entries.slice(sent) : [...(header ? [header] : []), ...entries];
			sent = entries.length;
			last = entries.at(-1)?.id;
			if (grew && added.length === 0) return undefined;
			return { reset: !grew, entries: added.map((entry) => JSON.stringify(entry)) };
		},
	};
}
