/**
 * hindnote in Claude Code: its tools and the boot block, answered by hindnote's Python helper.
 *
 * This module asks the helper, checks the shape of its answer and shows it. Session, directory
 * and model are read for every call, since `/clear`, `/model` and `/cd` change them while the
 * module runs. Every hook answers its own failure: the engine skips one that throws.
 *
 * The tools run at `tool.run`, which the engine reaches only when the person's rules and hooks
 * and the other plugins have let a call through; `permission.ts` decides where they say nothing.
 *
 * Usage: `hindnote install claude`, or `claude --plugin-dir <this folder>`.
 */
import type { Register } from 'claude-code'

import { collapsed } from './draw'
import { Helper, HelperFailure, type HostCall, messageOf } from './helper'
import { isDecided, isPlanMode, todoFile } from './permission'
import { PYTHON } from './runtime'
import { BLOCK, noteBlock, noteOffer, offersOf, withOwnBlock } from './subagent'
import { EDITING, PROJECT_TOOLS, READING, TOOL_PREFIX, TOOLS } from './tools'

type ToolCall = {
  tool: string
  tool_use_id: string
  agentId?: string
  requestMeta?: unknown
  $shadowed?: Record<string, unknown>
}

/** One call: whose it is, and the arguments with which it runs. */
type Call = { tool: string; tool_use_id: string; agentId?: string; input: Record<string, unknown> }

/** An answer for the engine: a result, or the text of a failed call. */
type Answer = { result: string } | { deny: string }

const FAILED = 'hindnote failed unexpectedly; the debug log of Claude Code says more'

/** What `HINDNOTE_PROJECT_TOOLS` may be; `codemode` is Pi's and counts as `deferred`, the default. */
const CHOICES = ['', 'deferred', 'codemode', 'direct', 'off']

let helper: Helper | undefined

/** The names of the tools that this plugin has registered; no other tool is decided or answered. */
const ours = new Set<string>()

/** The reading calls that only plan mode holds back, by call id, until they are answered. */
const held = new Map<string, { input: Record<string, unknown>; reason: string }>()

/** Takes a call apart. An argument whose name the engine needs for itself is in `$shadowed`. */
function callOf(e: ToolCall): Call {
  const { tool, tool_use_id, agentId, requestMeta, $shadowed, ...input } = e
  return { tool, tool_use_id, agentId, input: { ...input, ...$shadowed } }
}

async function hostCall($: any, ids: { call_id?: string; agent_id?: string }): Promise<HostCall> {
  const [session_id, cwd, model, info] = await Promise.all([
    $.session.id(),
    $.session.root(),
    $.session.model(),
    $.session.info(),
  ])
  const session_file = info.transcriptPath || undefined
  return { session_id, session_file, ...ids, cwd, model, agent: info.agentType }
}

/** The sessions whose first prompt in this process has been seen. */
const prompted = new Set<string>()

/**
 * The boot block for a fork, which begins with the messages of another session, its block among
 * them; nothing for any other session, and nothing but once.
 */
async function forkBlock($: any): Promise<string | undefined> {
  const session = await $.session.id()
  if (prompted.has(session)) return undefined
  prompted.add(session)
  const messages = await $.session.messages()
  if (!Array.isArray(messages) || messages.length === 0) return undefined
  const tools = await offered($)
  if (tools.length === 0) return undefined
  const call = { ...(await hostCall($, {})), extra: { has_messages: true } }
  return helper?.boot({ kind: 'boot', call, tools })
}

/** The operations that the model was offered: a deny rule or an agent's tool list leaves some out. */
async function offered($: any): Promise<string[]> {
  const tools: readonly { name: string }[] = await $.tool.list()
  return tools.filter(({ name }) => ours.has(name)).map(({ name }) => name.slice(TOOL_PREFIX.length))
}

/** The boot block for a subagent; empty for one that was offered none of the tools. */
async function subagentBlock($: any, agent_id: string): Promise<string> {
  const known = offersOf(agent_id)
  const names = known && [...ours].filter(name => known.has(name))
  const tools = names?.map(name => name.slice(TOOL_PREFIX.length)) ?? (await offered($))
  if (tools.length === 0 || helper === undefined) return ''
  return helper.boot({ kind: 'boot', call: await hostCall($, { agent_id }), tools })
}

/** Carries out a call that was allowed. A refusal is a deny: that is what a failed call looks like. */
async function answer($: any, { tool, tool_use_id, agentId, input }: Call): Promise<Answer> {
  try {
    const name = tool.slice(TOOL_PREFIX.length)
    const call = await hostCall($, { call_id: tool_use_id, agent_id: agentId })
    if (helper === undefined) return { deny: 'hindnote has not been started in this session' }
    const request = PROJECT_TOOLS.some(tool => tool.name === name)
      ? ({ kind: 'project', tool: name, arguments: input, call } as const)
      : ({ kind: 'call', operation: name, arguments: input, call } as const)
    const { text, isError } = await helper.call(request, READING.includes(name))
    return isError ? { deny: text } : { result: text }
  } catch (error) {
    if (error instanceof HelperFailure) return { deny: error.message }
    // The text of a crash may hold anything: it stays in the log.
    $.ui.log(messageOf(error), { to: 'debug' })
    return { deny: FAILED }
  }
}

export const register: Register = on => {
  on('session.start', async ($, e, next) => {
    helper?.stop()
    // The engine refuses a `$` that is kept, so the helper gets what it needs of it as functions.
    // They belong to this hook: a process started through them outlives the call that needed it.
    helper = new Helper({
      python: PYTHON,
      spawn: argv => $.process.spawn({ argv, cwd: $.plugin.root }),
      run: (argv, stdin) => $.process.run(argv, { stdin, cwd: $.plugin.root, timeoutMs: 120_000 }),
      fetch: (url, init) => $.http.fetch(url, init),
      after: (ms, fn) => $.clock.after(ms, fn),
      temporary: await $.env.get('TMPDIR').then(
        folder => folder || '/tmp',
        () => '/tmp',
      ),
      log: text => $.ui.log(text, { to: 'debug' }),
    })
    const choice = await $.env.get('HINDNOTE_PROJECT_TOOLS').then(
      value => value ?? '',
      () => '',
    )
    if (!CHOICES.includes(choice)) {
      $.ui.log('HINDNOTE_PROJECT_TOOLS is none of deferred, direct, off; it counts as unset')
    }
    const project = choice === 'off' ? [] : PROJECT_TOOLS
    for (const tool of [...TOOLS, ...project]) {
      try {
        const isDeferred = PROJECT_TOOLS.includes(tool) && choice !== 'direct'
        await $.tool.register({ ...tool, isDeferred })
        ours.add(TOOL_PREFIX + tool.name)
      } catch (error) {
        $.ui.log(`could not register ${tool.name}: ${messageOf(error)}`)
      }
    }
    return next(e)
  })

  on('tool.check', { tool: /^mcp__hindnote__/ }, async ($, e, next) => {
    const verdict = await next(e)
    if (!ours.has(e.tool)) return verdict
    const name = e.tool.slice(TOOL_PREFIX.length)
    if (isPlanMode(verdict)) {
      // The engine ignores an allow here, so a reading call is refused and then answered at
      // `tool.call` below. A question without a call's id is a query, and runs nothing.
      if (e.tool_use_id === undefined) return verdict
      const reason = verdict.reason ?? ''
      if (READING.includes(name)) {
        held.set(e.tool_use_id, { input: e.input as Record<string, unknown>, reason })
      }
      return { decision: 'deny', reason }
    }
    if (isDecided(verdict)) return verdict
    if (!EDITING.includes(name)) return { decision: 'allow' }
    const file_path = todoFile(await $.session.root(), e.input)
    const edit = await $.tool.check({ tool: 'Write', input: { file_path, content: '' } })
    if (edit.decision === 'ask') return verdict
    return { decision: edit.decision, reason: edit.reason }
  }).catch(($, e, next) => next(e))

  on('tool.run', { tool: /^mcp__hindnote__/ }, async ($, e, next) => {
    return ours.has(e.tool) ? answer($, callOf(e as ToolCall)) : next(e)
  }).catch(() => ({ deny: FAILED }))

  // The one answer outside `tool.run`: a reading call that plan mode alone held back, after the
  // rules, the PreToolUse hooks and the other plugins have been asked.
  on('tool.call', { tool: /^mcp__hindnote__/ }, async ($, e, next) => {
    const { tool, tool_use_id, agentId } = e as ToolCall
    let hold
    let below
    try {
      below = await next(e)
    } finally {
      hold = held.get(tool_use_id)
      held.delete(tool_use_id)
    }
    // A refusal with other words is somebody else's.
    const refusal = below.deny ?? (below.isError ? below.text : undefined)
    if (hold === undefined || !refusal?.endsWith(hold.reason)) return below
    // A plugin above saw this one's refusal and may have kept its own to itself: ask it again.
    const { decision } = await $.tool.check({ tool, input: hold.input })
    if (decision === 'deny') return below
    return answer($, { tool, tool_use_id, agentId, input: hold.input })
  }).catch(($, e, next) => (next.called ? { deny: FAILED } : next(e)))

  on('ui.render', { component: 'ToolResult' }, async ($, e, next) => {
    const { tool, output, isErrored, isExpanded } = e.props
    if (!ours.has(tool) || isErrored || isExpanded || typeof output !== 'string') return next(e)
    const text = collapsed(tool, output)
    return next(text === undefined ? e : { ...e, props: { ...e.props, output: text } })
  }).catch(($, e, next) => next(e))

  on('prompt.context', async ($, e, next) => {
    const below = await next(e)
    try {
      const call = await hostCall($, {})
      const tools = await offered($)
      // An agent without any of the tools has no use for a block that says what they can do.
      const text = tools.length > 0 ? await helper?.boot({ kind: 'boot', call, tools }) : undefined
      if (!text) return below
      noteBlock(text)
      return { ...below, blocks: [...below.blocks, { name: BLOCK, text }] }
    } catch (error) {
      $.ui.log(`could not show what is known: ${messageOf(error)}`)
      return below
    }
  })

  // A block of `prompt.context` stands in a conversation's first message alone.
  on('prompt.submit', async ($, e, next) => {
    let text
    try {
      text = await forkBlock($)
    } catch (error) {
      $.ui.log(`could not show what is known: ${messageOf(error)}`)
    }
    return next(text ? { ...e, context: [...(e.context ?? []), text] } : e)
  }).catch(($, e, next) => next(e))

  // The engine computes those blocks once, for the session and all of its subagents.
  on('prompt.attachment', { type: 'context_sections', agentId: /./ }, async ($, e, next) => {
    const below = await next(e)
    if (below.text === null || e.agentId === undefined) return below
    try {
      const text = withOwnBlock(below.text, await subagentBlock($, e.agentId))
      return text === undefined ? below : { text }
    } catch (error) {
      $.ui.log(`could not show a subagent what is known: ${messageOf(error)}`)
      return below
    }
  })

  // A subagent that is a fork has the messages of the session, and with them its block.
  on('classic.SubagentStart', { agent_type: 'fork' }, async ($, e, next) => {
    const below = await next(e)
    try {
      const text = await subagentBlock($, e.agent_id)
      if (text === '') return below
      return { ...below, additionalContext: [...(below.additionalContext ?? []), text] }
    } catch (error) {
      $.ui.log(`could not show a subagent what is known: ${messageOf(error)}`)
      return below
    }
  })

  // `tool.offer`, which not every supported build has: a name that it does not know refuses
  // the module, a pattern does not. No other event of these has `for`.
  on('tool.*', { for: 'list', agentId: /./ }, async ($, e, next) => {
    const answer = await next(e)
    const { tool, agentId } = e as { tool: string; agentId: string }
    noteOffer(agentId, tool, (answer as { isOffered?: boolean }).isOffered === true)
    return answer
  })

  on('session.end', async ($, e, next) => {
    // After these two the process goes on, under another session.
    if (e.reason !== 'clear' && e.reason !== 'resume') helper?.stop()
    return next(e)
  })
}
