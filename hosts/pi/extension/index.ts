/**
 * hindnote for Pi: notes, session history and project tools as native tools.
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
import { choice, reach } from "./project.ts";

type Execute = ToolDefinition["execute"];
/** What of a definition is not declared by the core. */
type Ways = { execute: Execute } & ToolRenderers & Pick<ToolDefinition, "exposure" | "namespace">;

function definition(declared: Declaration, ways: Ways): ToolDefinition {
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
		...ways,
	};
}

export default function hindnote(pi: ExtensionAPI) {
	const complaints: string[] = [];
	const ours: string[] = [];
	let project = 0;

	let loading: Promise<typeof import("./runtime.ts")> | undefined;
	let runtime: InstanceType<(typeof import("./runtime.ts"))["Runtime"]> | undefined;
	async function load() {
		loading ??= import("./runtime.ts");
		const { Runtime, remainingTokens } = await loading;
		runtime ??= new Runtime(pi);
		return { runtime, remainingTokens };
	}

	/** Register one tool, unless its name is somebody else's; tell whether it was. */
	function offer(declared: Declaration, ways: Ways): boolean {
		const other = pi.getAllTools().find((tool) => tool.name === declared.name);
		if (other) {
			complaints.push(`${declared.name} is left out: ${other.sourceInfo.path} has a tool of this name`);
			return false;
		}
		pi.registerTool(definition(declared, ways));
		return true;
	}

	/** Register the project tools in the way that the person chose. */
	function offerProject(draw: typeof import("./draw.ts") | undefined): void {
		const { choice: chosen, complaint } = choice(process.env.HINDNOTE_PROJECT_TOOLS);
		if (complaint) complaints.push(complaint);
		if (chosen === "off") return;
		const all = declarations("project-tools.json");
		const reached = reach(chosen, pi.getSettings(), all.map((declared) => declared.name));
		for (const declared of all) {
			const execute: Execute = async (callId, params, signal, _onUpdate, callCtx) =>
				(await load()).runtime.project(callCtx, declared.name, params, callId, signal);
			if (offer(declared, { execute, ...reached, ...draw?.drawing(declared.name) })) project++;
		}
	}

	pi.on("session_start", async (_event, ctx) => {
		const draw = ctx.mode === "tui" ? await import("./draw.ts") : undefined;
		for (const declared of declarations("tools.json")) {
			const execute: Execute = async (callId, params, signal, _onUpdate, callCtx) =>
				(await load()).runtime.call(callCtx, declared.name, params, callId, signal);
			if (offer(declared, { execute, ...draw?.drawing(declared.name) })) ours.push(declared.name);
		}
		const execute: Execute = async (_callId, _params, _signal, _onUpdate, callCtx) => {
			const remaining_tokens = (await load()).remainingTokens(pi.getSettings(), callCtx);
			return {
				content: [{ type: "text", text: `${remaining_tokens} tokens remain` }],
				structuredContent: { remaining_tokens },
				details: undefined,
			};
		};
		if (offer(REMAINING, { execute, ...draw?.drawing(REMAINING.name) })) ours.push(REMAINING.name);
		offerProject(draw);
		for (const complaint of complaints) ctx.ui.notify(`hindnote: ${complaint}`, "warning");
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
			ctx.ui.notify([`tools: ${ours.length} registered, ${project} project tools`, ...complaints, ...status].join("\n"), "info");
		},
	});
}
