/**
 * What happens once the session asks for something: calls, the boot block, the status.
 *
 * Loaded at the first request, so that Pi's start does not wait for it.
 */

import type {
	AgentToolResult,
	ContextWithSystemEvent,
	ExtensionAPI,
	ExtensionContext,
} from "@earendil-works/pi-coding-agent";
import { BOOT_TYPE, type Block, storedBlock, windowOf, withBlock } from "./boot.ts";
import { interpreter } from "./declarations.ts";
import { difference } from "./diff.ts";
import type { Details } from "./draw.ts";
import { Helper } from "./helper.ts";
import { hostFacts, liveEntries } from "./session.ts";
import { type Answer, parseAnswer, parseBoot, parseProjectAnswer, parseStatus, type Summary } from "./wire.ts";

export { remainingTokens } from "./remaining.ts";

type Structured = AgentToolResult<unknown>["structuredContent"];

function details({ extras: { before, after } }: Answer): Details | undefined {
	return before === undefined || after === undefined ? undefined : difference(before, after);
}

export class Runtime {
	private readonly helper = new Helper(interpreter);
	private readonly pi: ExtensionAPI;
	private readonly complain: (ctx: ExtensionContext, complaint: string) => void;
	/** The window for which a person was told that it has no block. */
	private complained: string | undefined;

	constructor(pi: ExtensionAPI, complain: (ctx: ExtensionContext, complaint: string) => void) {
		this.pi = pi;
		this.complain = complain;
	}

	/** Carry out one call. A refusal comes back as a result; a failure is thrown. */
	async call(
		ctx: ExtensionContext,
		operation: string,
		args: unknown,
		callId: string,
		signal: AbortSignal | undefined,
	): Promise<AgentToolResult<Details | undefined>> {
		const message = { type: "call", operation, arguments: args };
		const answer = parseAnswer(await this.ask(ctx, message, callId, signal));
		return {
			content: [{ type: "text", text: answer.text }],
			structuredContent: answer.result as Structured,
			details: details(answer),
			isError: answer.isError,
		};
	}

	/** Carry out one call of a project tool. A native failure comes back as a result, too. */
	async project(
		ctx: ExtensionContext,
		tool: string,
		args: unknown,
		callId: string,
		signal: AbortSignal | undefined,
	): Promise<AgentToolResult<Summary>> {
		const message = { type: "project", tool, arguments: args };
		const answer = parseProjectAnswer(await this.ask(ctx, message, callId, signal));
		return {
			content: answer.blocks.map((text) => ({ type: "text", text })),
			structuredContent: answer.result as Structured,
			details: answer.details,
			isError: answer.isError,
		};
	}

	/** Return a request's messages with the window's boot block, which names no other tools than these. */
	async withBootBlock({ messages }: ContextWithSystemEvent, ctx: ExtensionContext, tools: string[]) {
		const branch = ctx.sessionManager.getBranch();
		const session = ctx.sessionManager.getSessionId();
		const window = windowOf(branch);
		let block = storedBlock(branch, session, window);
		try {
			if (!block) {
				const text = parseBoot(await this.ask(ctx, { type: "boot", tools }, undefined, ctx.signal));
				block = { v: 1, session, window, text, ts: Date.now() };
				this.pi.appendEntry<Block>(BOOT_TYPE, block);
			}
			return { messages: withBlock(messages, block.text, block.ts) };
		} catch (error) {
			if (ctx.signal?.aborted) return undefined;
			// Shown, so that nobody takes the notes for gone; never stored, so that the next request tries again.
			const told = `could not list notes and history: ${reason(error)}`;
			if (this.complained !== `${session} ${window}`) this.complain(ctx, told);
			this.complained = `${session} ${window}`;
			return { messages: withBlock(messages, `hindnote ${told}`, Date.now()) };
		}
	}

	/** Describe the state for a person, a line each. */
	async status(): Promise<string[]> {
		const lines: string[] = [];
		try {
			lines.push(`python: ${interpreter()}`);
			const status = parseStatus(await this.helper.request({ message: { type: "status" } }));
			lines.push(`process: ${status.pid}, hindnote ${status.version}`, `notes: ${status.home}`);
			lines.push(`hosts: ${status.hosts.join(", ")}`, ...status.refused.map((why) => `refused: ${why}`));
		} catch (error) {
			lines.push(reason(error));
		}
		if (this.helper.log.length > 0) lines.push("log:", ...this.helper.log.map((line) => `  ${line}`));
		return lines;
	}

	stop(): Promise<void> {
		return this.helper.stop();
	}

	private ask(ctx: ExtensionContext, message: object, callId?: string, signal?: AbortSignal): Promise<unknown> {
		return this.helper.request({
			message: { ...message, host: hostFacts(ctx, callId) },
			live: liveEntries(ctx),
			signal,
		});
	}
}

function reason(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
