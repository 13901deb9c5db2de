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

import { fileURLToPath } from "node:url";
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { declarations, definition, REMAINING } from "./declarations.ts";

type Execute = ToolDefinition["execute"];

/**
 * Register tools so that Pi draws up what they return once, and not again with each of them.
 *
 * At every registration Pi renders the output types of all tools anew, for codemode. It reads
 * the definitions that it was given, so these get their output schemas with the last one.
 */
function register(pi: ExtensionAPI, definitions: ToolDefinition[]): void {
	const last = definitions.at(-1);
	if (!last) return;
	const schemas = definitions.map((one) => one.outputSchema);
	for (const one of definitions) one.outputSchema = undefined;
	for (const one of definitions.slice(0, -1)) pi.registerTool(one);
	for (const [place, one] of definitions.entries()) one.outputSchema = schemas[place];
	pi.registerTool(last);
}

/** The channel on which a second hindnote, which keeps silent from then on, tells the first one of itself. */
const SECOND = "hindnote:second";

function leftOut(names: string[], owner: string): string {
	const [are, tools] = names.length === 1 ? ["is", "a tool of this name"] : ["are", "tools of these names"];
	return `${names.join(", ")} ${are} left out: ${owner} has ${tools}`;
}

export default function hindnote(pi: ExtensionAPI) {
	const complaints: string[] = [];
	const ours: string[] = [];
	let project: Promise<string[]> | undefined;
	let isSecond = false;
	let draw: typeof import("./draw.ts") | undefined;

	let loading: Promise<typeof import("./runtime.ts")> | undefined;
	let runtime: InstanceType<(typeof import("./runtime.ts"))["Runtime"]> | undefined;
	async function load() {
		loading ??= import("./runtime.ts");
		const { Runtime, remainingTokens } = await loading;
		runtime ??= new Runtime(pi, complain);
		return { runtime, remainingTokens };
	}

	function complain(ctx: ExtensionContext, complaint: string): void {
		complaints.push(complaint);
		if (ctx.hasUI) ctx.ui.notify(`hindnote: ${complaint}`, "warning");
		else console.error(`hindnote: ${complaint}`);
	}

	/** Register the tools whose names are nobody else's, and return their names. */
	function offer(ctx: ExtensionContext, tools: ToolDefinition[]): string[] {
		const owners = new Map(pi.getAllTools().map((tool) => [tool.name, tool.sourceInfo.path]));
		const taken = new Map<string, string[]>();
		for (const { name } of tools) {
			const owner = owners.get(name);
			if (owner !== undefined) taken.set(owner, [...(taken.get(owner) ?? []), name]);
		}
		for (const [owner, names] of taken) complain(ctx, leftOut(names, owner));
		const free = tools.filter((tool) => !owners.has(tool.name));
		register(pi, free);
		return free.map((tool) => tool.name);
	}

	const remaining: Execute = async (_callId, _params, _signal, _onUpdate, callCtx) => {
		const tokens = (await load()).remainingTokens(pi.getSettings(), callCtx);
		return {
			content: [{ type: "text", text: `${tokens} tokens remain` }],
			structuredContent: { remaining_tokens: tokens },
			details: undefined,
		};
	};

	/** Return whether another hindnote offers everything already; that is told once, for all that is left out. */
	function yields(ctx: ExtensionContext): boolean {
		const first = pi.getCommands().find(({ name, source }) => source === "extension" && name === "hindnote");
		if (!first) return false;
		const here = fileURLToPath(new URL("./index.ts", import.meta.url));
		const told = `it is loaded twice, from ${first.sourceInfo.path} and ${here}; the second one does nothing: remove one of them`;
		complain(ctx, told);
		pi.events.emit(SECOND, told);
		return true;
	}

	const forget = pi.events.on(SECOND, (told) => complaints.push(String(told)));

	pi.on("session_start", async (_event, ctx) => {
		isSecond = yields(ctx);
		if (isSecond) return;
		registerStatus();
		if (ctx.mode === "tui") draw = await import("./draw.ts");
		const tools = declarations("tools.json").map((declared) => {
			const execute: Execute = async (callId, params, signal, _onUpdate, callCtx) =>
				(await load()).runtime.call(callCtx, declared.name, params, callId, signal);
			return definition(declared, { execute, ...draw?.drawing(declared.name) });
		});
		tools.push(definition(REMAINING, { execute: remaining, ...draw?.drawing(REMAINING.name) }));
		ours.push(...offer(ctx, tools));
		// What the model is offered stands in the system prompt, which Pi draws up for the first
		// request before these could join it; the second one would then begin otherwise.
		if (process.env.HINDNOTE_PROJECT_TOOLS === "direct") await offerProject(ctx);
	});

	/** Register the project tools, once, and return their names. */
	async function offerProject(ctx: ExtensionContext): Promise<string[]> {
		if (isSecond) return [];
		project ??= registerProject(ctx);
		return project;
	}

	async function registerProject(ctx: ExtensionContext): Promise<string[]> {
		const { projectTools } = await import("./project.ts");
		const { tools, complaint } = projectTools(process.env.HINDNOTE_PROJECT_TOOLS, pi.getSettings(), ({ name }) => {
			const execute: Execute = async (callId, params, signal, _onUpdate, callCtx) =>
				(await load()).runtime.project(callCtx, name, params, callId, signal);
			return { execute, ...draw?.drawing(name) };
		});
		if (complaint) complain(ctx, complaint);
		return offer(ctx, tools);
	}

	// Their types are long, and Pi's start would wait while it renders them. The model and its
	// scripts reach no tool before the first run begins.
	pi.on("before_agent_start", async (_event, ctx) => {
		await offerProject(ctx);
	});

	pi.on("context_with_system", async (event, ctx) => {
		const offered = pi.getActiveTools().filter((name) => ours.includes(name));
		// An agent without any of the tools has no use for a block that says what they can do.
		if (offered.length === 0) return undefined;
		return (await load()).runtime.withBootBlock(event, ctx, offered);
	});

	pi.on("session_shutdown", () => {
		forget();
		return runtime?.stop();
	});

	/** Register the command once another hindnote could have: two of a name would be `/hindnote:1` and `/hindnote:2`. */
	function registerStatus(): void {
		pi.registerCommand("hindnote", {
			description: "Show the state of hindnote: its process, its homes, tools left out, its log",
			handler: async (_args, ctx) => {
				const { length } = await offerProject(ctx);
				const tools = `tools: ${ours.length} registered, ${length} project ${length === 1 ? "tool" : "tools"}`;
				const status = await (await load()).runtime.status();
				ctx.ui.notify([tools, ...complaints, ...status].join("\n"), "info");
			},
		});
	}
}
