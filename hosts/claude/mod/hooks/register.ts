/**
 * hindnote in Claude Code: its tools and the boot block, answered by hindnote's Python helper.
 *
 * This module asks, checks the shape and shows; it has no rules of its own. Session, directory
 * and model are read for every call, since `/clear`, `/model` and `/cd` change them while the
 * module runs. Every hook answers its own failure: the engine skips one that throws.
 *
 * Usage: `hindnote install claude`, or `claude --plugin-dir <this folder>`.
 */
import type { Register } from 'claude-code'

import { Helper, HelperFailure, type HostCall, messageOf } from './helper'
import { PYTHON } from './runtime'
import { PROJECT_TOOLS, READING, TOOL_PREFIX, TOOLS } from './tools'

type ToolCall = {
  tool: string
  tool_use_id: string
  agentId?: string
  requestMeta?: unknown
  $shadowed?: Record<string, unknown>
}

const FAILED = 'hindnote failed unexpectedly; the debug log of Claude Code says more'

/** What `HINDNOTE_PROJECT_TOOLS` may be; `codemode` is Pi's and counts as `deferred`, the default. */
const CHOICES = ['', 'deferred', 'codemode', 'direct', 'off']

let helper: Helper | undefined

export const register: Register = on => {
  on('session.start', async ($, e, next) => {
    helper?.stop()
    // `$` may not be handed on, so the helper gets what it needs of it as functions. They
    // belong to this hook: a process started through them outlives the call that needed it.
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
      } catch (error) {
        $.ui.log(`could not register ${tool.name}: ${messageOf(error)}`)
      }
    }
    return next(e)
  })

  on('tool.call', { tool: /^mcp__hindnote__/ }, async ($, e) => {
    try {
      // An argument whose name the engine needs for itself waits under `$shadowed`.
      const { tool, tool_use_id, agentId, requestMeta, $shadowed, ...rest } = e as ToolCall
      const given = { ...rest, ...$shadowed }
      const name = tool.slice(TOOL_PREFIX.length)
      const [session_id, cwd, model, info] = await Promise.all([
        $.session.id(),
        $.session.root(),
        $.session.model(),
        $.session.info(),
      ])
      const call: HostCall = {
        session_id,
        session_file: info.transcriptPath || undefined,
        call_id: tool_use_id,
        agent_id: agentId,
        cwd,
        model,
        agent: info.agentType,
      }
      if (helper === undefined) return { deny: 'hindnote has not been started in this session' }
      const request = PROJECT_TOOLS.some(tool => tool.name === name)
        ? ({ kind: 'project', tool: name, arguments: given, call } as const)
        : ({ kind: 'call', operation: name, arguments: given, call } as const)
      const answer = await helper.call(request, READING.includes(name))
      return answer.isError
        ? { isError: true, result: answer.text }
        : { result: answer.text }
    } catch (error) {
      if (error instanceof HelperFailure) return { deny: error.message }
      // The text of a crash may hold anything: it stays in the log.
      $.ui.log(messageOf(error), { to: 'debug' })
      return { deny: FAILED }
    }
  }).catch(() => ({ deny: FAILED }))

  on('prompt.context', async ($, e, next) => {
    const below = await next(e)
    try {
      const [session_id, cwd, model, info] = await Promise.all([
        $.session.id(),
        $.session.root(),
        $.session.model(),
        $.session.info(),
      ])
      const session_file = info.transcriptPath || undefined
      const call: HostCall = { session_id, session_file, cwd, model, agent: info.agentType }
      const text = await helper?.boot({ kind: 'boot', call })
      if (!text) return below
      return { ...below, blocks: [...below.blocks, { name: 'hindnote', text }] }
    } catch (error) {
      $.ui.log(`could not show what is known: ${messageOf(error)}`)
      return below
    }
  })

  on('session.end', async ($, e, next) => {
    // After these two the process goes on, under another session.
    if (e.reason !== 'clear' && e.reason !== 'resume') helper?.stop()
    return next(e)
  })
}
