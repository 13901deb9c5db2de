/** The boot block of a subagent, in the place of the main session's. */

/** Under this name the block stands in a conversation's first message. */
export const BLOCK = 'hindnote'

/** The tools that each subagent's model was offered, by the subagent's id. */
const offers = new Map<string, Set<string>>()

/** The boot blocks that conversations of this process were given, by which they are found again. */
const given = new Set<string>()

/** Notes what a subagent was offered; a question about one tool is asked for each of them. */
export function noteOffer(agentId: string, tool: string, isOffered: boolean): void {
  const known = offers.get(agentId) ?? new Set()
  offers.set(agentId, known)
  if (isOffered) known.add(tool)
  else known.delete(tool)
}

/** The tools that a subagent was offered; undefined where this build of the host does not tell. */
export function offersOf(agentId: string): ReadonlySet<string> | undefined {
  return offers.get(agentId)
}

/** Notes that a conversation's first message carries a block, which may end in blank lines there or not. */
export function noteBlock(text: string): void {
  given.add(text.trimEnd())
}

/**
 * Puts a subagent's block where the main session's stands in the context of a first message.
 *
 * @param context what the engine would send: sections with a title each, and a last sentence
 * @param own the subagent's block; empty when it has no use for one
 * @returns what to send, null for nothing; undefined when the main session's block is not there
 */
export function withOwnBlock(context: string, own: string): string | null | undefined {
  for (const block of given) {
    const section = `# ${BLOCK}\n${block}`
    const start = context.indexOf(section)
    if (start < 0) continue
    const [before, after] = [context.slice(0, start), context.slice(start + section.length)]
    if (own !== '') return `${before}# ${BLOCK}\n${own}${after}`
    const rest = before + after.trimStart()
    return rest.startsWith('# ') ? rest : null
  }
  return undefined
}
