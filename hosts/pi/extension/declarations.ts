/** The tools as hindnote's core declares them, from the generated `tools.json` and `project-tools.json`. */

import { existsSync, readFileSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
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

/**
 * An input schema that does not say that its objects are closed: Pi would send that with every
 * request, at 29 bytes an object. The core refuses unknown fields, and names the known ones.
 */
function opened(schema: object): object {
	return JSON.parse(JSON.stringify(schema), (key, value) =>
		key === "additionalProperties" && value === false ? undefined : value,
	);
}

/** What Pi registers for a declared tool. */
export function definition(declared: Declaration, ways: Ways): ToolDefinition {
	return {
		name: declared.name,
		label: declared.title,
		description: declared.description,
		promptSnippet: declared.title,
		parameters: opened(declared.inputSchema),
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

/**
 * The interpreter that `hindnote install pi` wrote down; without it, the one on the PATH.
 *
 * Always an absolute path: a relative one would name a file of the project at hand. Throws what
 * a person has to put right.
 */
export function interpreter(): string {
	const named = process.env.HINDNOTE_PYTHON;
	if (named) return absolute(named, "HINDNOTE_PYTHON");
	let written: unknown;
	try {
		written = JSON.parse(readFileSync(new URL("./install.json", import.meta.url), "utf8")).python;
	} catch {
		// Not installed by the command: a folder that Pi references as it is.
	}
	if (typeof written === "string") return absolute(written, "install.json");
	for (const folder of (process.env.PATH ?? "").split(delimiter)) {
		if (isAbsolute(folder) && existsSync(join(folder, "python3"))) return join(folder, "python3");
	}
	throw new Error("there is no python3 on the PATH to run hindnote; run `hindnote install pi`, or set HINDNOTE_PYTHON");
}

function absolute(path: string, where: string): string {
	if (isAbsolute(path)) return path;
	throw new Error(
		`${where} names the Python ${JSON.stringify(path)}, which is no absolute path; ` +
			"run `hindnote install pi`, or set HINDNOTE_PYTHON to one",
	);
}
