/**
 * Who decides whether a tool of this plugin may run.
 *
 * Claude Code has asked the person's rules and hooks before it asks the plugin, and what they
 * decided stands. Only where none of them said anything does the plugin decide: the notes,
 * history and looking tools run, and a tool that changes todos gets what an edit of the
 * todo's file would get.
 */

/** What `tool.check` answers, as far as it matters here. */
export type Verdict = {
  decision: 'allow' | 'ask' | 'deny'
  reason?: string
  rule?: string
  hook?: string
  setting?: string
  plugin?: string
  ceiling?: string
}

/** The end of the reason with which plan mode holds a call back (Claude Code 2.1.326 to 2.1.332). */
const PLAN_MODE = / while in plan mode\.$/

/** Whether plan mode, and nobody else, holds the call back. */
export function isPlanMode(verdict: Verdict): boolean {
  return verdict.decision === 'ask' && PLAN_MODE.test(verdict.reason ?? '')
}

/** Whether somebody whose word stands has decided: a person, an organization, another plugin. */
export function isDecided(verdict: Verdict): boolean {
  const { decision, rule, hook, setting, plugin, ceiling } = verdict
  return decision !== 'ask' || [rule, hook, setting, plugin, ceiling].some(Boolean)
}

/**
 * The file that a call of a todo tool would change, to ask what an edit of it would get.
 *
 * @param root the session's directory, absolute
 * @param input the call's arguments, not checked yet
 * @returns the todo that is moved, or a new one in the folder where todos are made
 */
export function todoFile(root: string, input: unknown): string {
  const given = (input ?? {}) as Record<string, unknown>
  const workspace = within(root, given.workspace_root, '.')
  const folder = within(workspace, given.todos_root, 'todos')
  return within(workspace, given.path, `${folder}/000-pending-p1-new-todo.md`)
}

function within(base: string, given: unknown, usual: string): string {
  const path = typeof given === 'string' && given !== '' ? given : usual
  const kept: string[] = []
  for (const part of (path.startsWith('/') ? path : `${base}/${path}`).split('/')) {
    if (part === '..') kept.pop()
    else if (part !== '' && part !== '.') kept.push(part)
  }
  return `/${kept.join('/')}`
}
