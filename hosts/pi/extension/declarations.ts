/** The tools as hindnote's core declares them, from the generated `tools.json` and `project-tools.json`. */

import { readFileSync } from "node:fs";
import type { ToolDefinition, ToolRenderers } from "@earendil-works/pi-coding-agent";

export interface Declaration {
	name: string;
	title: string;
	description: string;
	inputSchema: object;
	outputSchema: object;
	hints: { readOnly: boolean; destructive: boolean; idempotent: boolean };
}

/** Read declarations; the files are installed together with this one. */
export function declarations(file: "tools.json" | "project-tools.json"): Declaration[] {
	return JSON.parse(readFileSync(new URL(`./${file}`, import.meta.url), "utf8"));
}

/** What of a definition is not declared by the core. */
export type Ways = Pick<ToolDefinition, "execute" | "exposure" | "namespace"> & ToolRenderers;

/** What Pi registers for a declared tool. */
export function definition(declared: Declaration, ways: Ways): ToolDefinition {
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

/** The one tool that is declared by hand: only Pi knows the answer. */
export const REMAINING: Declaration = {
	name: "get_context_remaining",
	title: "Context remaining",
	description:
		"Tells how many tokens are left in this context window before the host compacts it. " +
		"Results of calls made together with this one are not counted yet.",
	inputSchema: { type: "object", properties: {}, additionalProperties: false },
	outputSchema: {
		type: "object",
		properties: { remaining_tokens: { type: "integer", minimum: 0 } },
		required: ["remaining_tokens"],
		additionalProperties: false,
	},
	hints: { readOnly: true, destructive: false, idempotent: true },
};

/** The interpreter that `hindnote install pi` wrote down; without it, the one on the PATH. */
export function interpreter(): string {
	if (process.env.HINDNOTE_PYTHON) return process.env.HINDNOTE_PYTHON;
	try {
		const { python } = JSON.parse(readFileSync(new URL("./install.json", import.meta.url), "utf8"));
		if (typeof python === "string") return python;
	} catch {
		// Not installed by the command: a folder that Pi references as it is.
	}
	return "python3";
}
