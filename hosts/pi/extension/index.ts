/**
 * hindnote for Pi: notes and session history as native tools.
 *
 * The extension asks hindnote's Python process, checks the shape of what comes back
 * and shows it. It holds no rules of its own: which tools there are, what they accept
 * and what they answer is the core's. This file only registers; the rest is loaded
 * when it is needed.
 *
 * Usage: `hindnote install pi`, or `pi install <this folder>`; `/hindnote` tells the state.
 */

import type { ExtensionAPI, ToolDefinition, ToolRenderers } from "@earendil-works/pi-coding-agent";
import { type Declaration, declarations, REMAINING } from "./declarations.ts";

type Execute = ToolDefinition["execute"];

function definition(declared: Declaration, execute: Execute, renderers: ToolRenderers): ToolDefinition {
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
		...renderers,
	};
}

export default function hindnote(pi: ExtensionAPI) {
	const clashes: string[] = [];
	const ours: string[] = [];

	let loading: Promise<typeof import("./runtime.ts")> | undefined;
	let runtime: InstanceType<(typeof import("./runtime.ts"))["Runtime"]> | undefined;
	async function load() {
		loading ??= import("./runtime.ts");
		const { Runtime, remainingTokens } = await loading;
		runtime ??= new Runtime(pi);
		return { runtime, remainingTokens };
	}

	/** Register one tool, unless its name is somebody else's. */
	function offer(declared: Declaration, execute: Execute, renderers: ToolRenderers): void {
		const other = pi.getAllTools().find((tool) => tool.name === declared.name);
		if (other) {
			clashes.push(`${declared.name} is left out: ${other.sourceInfo.path} has a tool of this name`);
			return;
		}
		pi.registerTool(definition(declared, execute, renderers));
		ours.push(declared.name);
	}

	pi.on("session_start", async (_event, ctx) => {
		const draw = ctx.mode === "tui" ? await import("./draw.ts") : undefined;
		for (const declared of declarations()) {
			const execute: Execute = async (callId, params, signal, _onUpdate, callCtx) =>
				(await load()).runtime.call(callCtx, declared.name, params, callId, signal);
			offer(declared, execute, draw?.drawing(declared.name) ?? {});
		}
		const remaining: Execute = async (_callId, _params, _signal, _onUpdate, callCtx) => {
			const remaining_tokens = (await load()).remainingTokens(pi.getSettings(), callCtx);
			return {
				content: [{ type: "text", text: `${remaining_tokens} tokens remain` }],
				structuredContent: { remaining_tokens },
				details: undefined,
			};
		};
		offer(REMAINING, remaining, draw?.drawing(REMAINING.name) ?? {});
		for (const clash of clashes) ctx.ui.notify(`hindnote: ${clash}`, "warning");
	});

	pi.on("context_with_system", async (event, ctx) => {
		// Whoever left all the tools out has no use for what they would tell.
		if (!pi.getActiveTools().some((name) => ours.includes(name))) return undefined;
		return (await load()).runtime.withBootBlock(event, ctx);
	});

	pi.on("session_shutdown", () => runtime?.stop());

	pi.registerCommand("hindnote", {
		description: "Show the state of hindnote: its process, its homes, tools left out, its log",
		handler: async (_args, ctx) => {
			const status = await (await load()).runtime.status();
			ctx.ui.notify([`tools: ${ours.length} registered`, ...clashes, ...status].join("\n"), "info");
		},
	});
}
