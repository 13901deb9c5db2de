/**
 * hindnote for Pi: notes and session history as native tools.
 *
 * The extension asks hindnote's Python process, checks the shape of what comes back
 * and shows it. It holds no rules of its own: which tools there are, what they accept
 * and what they answer is the core's.
 *
 * Usage: `hindnote install pi`, or `pi install <this folder>`; `/hindnote` tells the state.
 */

import {
	type AgentToolResult,
	type ExtensionAPI,
	type ExtensionContext,
	generateDiffString,
	type ToolDefinition,
} from "@earendil-works/pi-coding-agent";
import { BOOT_TYPE, type Block, storedBlock, windowOf, withBlock } from "./boot.ts";
import { type Declaration, declarations, interpreter } from "./declarations.ts";
import { type Details, drawing } from "./draw.ts";
import { Helper } from "./helper.ts";
import { REMAINING, remainingTokens } from "./remaining.ts";
import { hostFacts, liveEntries } from "./session.ts";
import { type Answer, parseAnswer, parseBoot, parseStatus } from "./wire.ts";

type Result = AgentToolResult<Details | undefined>;
type Execute = ToolDefinition["execute"];

/** Texts longer than this together are not compared: the terminal would stand still. */
const DIFF_LIMIT = 400_000;

function details({ extras: { before, after } }: Answer): Details | undefined {
	if (before === undefined || after === undefined || before === after) return undefined;
	if (before.length + after.length > DIFF_LIMIT) return undefined;
	return generateDiffString(before, after);
}

function packaged(answer: Answer): Result {
	return {
		content: [{ type: "text", text: answer.text }],
		structuredContent: answer.result as Result["structuredContent"],
		details: details(answer),
		isError: answer.isError,
	};
}

function definition(declared: Declaration, execute: Execute): ToolDefinition {
	return {
		name: declared.name,
		label: declared.title,
		description: declared.description,
		promptSnippet: declared.title,
		parameters: declared.inputSchema,
		outputSchema: declared.outputSchema,
		annotations: {
			readOnlyHint: declared.hints.readOnly,
			destructiveHint: declared.hints.destructive,
			idempotentHint: declared.hints.idempotent,
			openWorldHint: false,
		},
		execute,
		...drawing(declared.name),
	};
}

export default function hindnote(pi: ExtensionAPI) {
	const helper = new Helper(interpreter);
	const clashes: string[] = [];
	let registered = 0;

	const ask = (ctx: ExtensionContext, message: object, callId?: string, signal?: AbortSignal) =>
		helper.request({ message: { ...message, host: hostFacts(ctx, callId) }, live: liveEntries(ctx), signal });

	/** Register one tool, unless its name is somebody else's. */
	function offer(declared: Declaration, execute: Execute): void {
		const other = pi.getAllTools().find((tool) => tool.name === declared.name);
		if (other) {
			clashes.push(`${declared.name} is left out: ${other.sourceInfo.path} has a tool of this name`);
			return;
		}
		pi.registerTool(definition(declared, execute));
		registered++;
	}

	pi.on("session_start", (_event, ctx) => {
		for (const declared of declarations()) {
			offer(declared, async (callId, params, signal, _onUpdate, callCtx) => {
				const message = { type: "call", operation: declared.name, arguments: params };
				return packaged(parseAnswer(await ask(callCtx, message, callId, signal)));
			});
		}
		offer(REMAINING, async (_callId, _params, _signal, _onUpdate, callCtx) => {
			const remaining_tokens = remainingTokens(pi.getSettings(), callCtx);
			return {
				content: [{ type: "text", text: `${remaining_tokens} tokens remain` }],
				structuredContent: { remaining_tokens },
				details: undefined,
			};
		});
		for (const clash of clashes) ctx.ui.notify(`hindnote: ${clash}`, "warning");
	});

	pi.on("context_with_system", async (event, ctx) => {
		if (registered === 0) return undefined;
		const branch = ctx.sessionManager.getBranch();
		const window = windowOf(branch);
		let block = storedBlock(branch, window);
		try {
			if (!block) {
				const text = parseBoot(await ask(ctx, { type: "boot" }, undefined, ctx.signal));
				block = { v: 1, window, text, ts: Date.now() };
				pi.appendEntry<Block>(BOOT_TYPE, block);
			}
			return { messages: withBlock(event.messages, block.text, block.ts) };
		} catch (error) {
			// Shown, so that nobody takes the notes for gone; never stored, so that the next request tries again.
			const told = `hindnote could not list notes and history: ${error instanceof Error ? error.message : "no reason given"}`;
			ctx.ui.notify(told, "warning");
			return { messages: withBlock(event.messages, told, Date.now()) };
		}
	});

	pi.on("session_shutdown", () => helper.stop());

	pi.registerCommand("hindnote", {
		description: "Show the state of hindnote: its process, its homes, tools left out, its log",
		handler: async (_args, ctx) => {
			const lines = [`tools: ${registered} registered`, ...clashes, `python: ${interpreter()}`];
			try {
				const status = parseStatus(await helper.request({ message: { type: "status" } }));
				lines.push(`process: ${status.pid}, hindnote ${status.version}`, `notes: ${status.home}`);
				lines.push(`hosts: ${status.hosts.join(", ")}`, ...status.refused.map((why) => `refused: ${why}`));
			} catch (error) {
				lines.push(error instanceof Error ? error.message : String(error));
			}
			if (helper.log.length > 0) lines.push("log:", ...helper.log.map((line) => `  ${line}`));
			ctx.ui.notify(lines.join("\n"), "info");
		},
	});
}
