/** The project tools, and how the model reaches them: a setting of the person, named like Pi's exposures. */

import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { type Declaration, declarations, definition, type Ways } from "./declarations.ts";

/** What `HINDNOTE_PROJECT_TOOLS` may be; the first holds without it. */
export const CHOICES = ["deferred", "codemode", "direct", "off"] as const;

export type Choice = (typeof CHOICES)[number];

/** Read the setting; a value that is none of the choices counts as unset, and is told. */
export function choice(value: string | undefined): { choice: Choice; complaint?: string } {
	const found = CHOICES.find((one) => one === value);
	if (found || !value) return { choice: found ?? CHOICES[0] };
	return { choice: CHOICES[0], complaint: `HINDNOTE_PROJECT_TOOLS is none of ${CHOICES.join(", ")}; it counts as unset` };
}

/** The part of the tools' definitions that the setting decides. */
export function reach(
	chosen: Exclude<Choice, "off">,
	settings: ReturnType<ExtensionAPI["getSettings"]>,
	names: readonly string[],
): Pick<ToolDefinition, "exposure" | "namespace"> {
	// Where codemode lists every tool, each namespace takes its share of the room first, and
	// these long declarations would push out those of the notes and of history.
	if (settings.codemode?.mode === "only") return { exposure: chosen };
	// Their description stays in codemode's when there is no room for the declarations.
	const description =
		`Documents and file todos of this project: ${names.join(", ")}. Each resolves to ` +
		"{ok: true, data, completeness, effects} or {ok: false, error: {code, message}, effects}; " +
		"`await describeTool(name)` tells arguments and types.";
	return { exposure: chosen, namespace: { name: "project", description } };
}

/** Return the project tools in the way that the setting says, and what there is to complain of. */
export function projectTools(
	setting: string | undefined,
	settings: ReturnType<ExtensionAPI["getSettings"]>,
	ways: (declared: Declaration) => Ways,
): { tools: ToolDefinition[]; complaint?: string } {
	const { choice: chosen, complaint } = choice(setting);
	if (chosen === "off") return { tools: [] };
	const all = declarations("project-tools.json");
	const reached = reach(chosen, settings, all.map((declared) => declared.name));
	return { tools: all.map((declared) => definition(declared, { ...ways(declared), ...reached })), complaint };
}
