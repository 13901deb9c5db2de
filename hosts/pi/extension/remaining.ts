/** The count behind `get_context_remaining`, the one tool that the extension answers itself. */

import { DEFAULT_COMPACTION_SETTINGS, type ExtensionAPI, type ExtensionContext } from "@earendil-works/pi-coding-agent";

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
