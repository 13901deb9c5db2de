/** `get_context_remaining`: the one tool that the extension answers itself, since only Pi knows. */

import { DEFAULT_COMPACTION_SETTINGS, type ExtensionAPI, type ExtensionContext } from "@earendil-works/pi-coding-agent";

export const REMAINING = {
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

/** Count the tokens left until automatic compaction; throws when Pi does not know. */
export function remainingTokens(settings: ReturnType<ExtensionAPI["getSettings"]>, ctx: ExtensionContext): number {
	const usage = ctx.getContextUsage();
	if (usage?.tokens == null || !ctx.model) {
		throw new Error("Pi does not know yet how much of the context is used; ask again after the next answer");
	}
	const { compaction } = settings;
	const override = compaction?.modelOverrides?.[`${ctx.model.provider}/${ctx.model.id}`];
	const reserve = override?.reserveTokens ?? compaction?.reserveTokens ?? DEFAULT_COMPACTION_SETTINGS.reserveTokens;
	return Math.max(0, Math.floor(usage.contextWindow - usage.tokens - reserve));
}
