/** A plugin that times what the mod does, from where the mod stands. */
import type { Register } from 'claude-code'

import { Helper } from './helper'
import { PYTHON } from './runtime'

const ROUNDS = 15
const CALLS = 100

const read = {
  kind: 'call',
  operation: 'notes_read',
  arguments: { address: '@project/plan' },
} as const

let helper: Helper | undefined

/** Milliseconds of each call that the model made, with everything the host does for it. */
const whole: number[] = []

export const register: Register = on => {
  on('session.start', async ($, e, next) => {
    const temporary = await $.env.get('TMPDIR')
    helper = new Helper({
      python: PYTHON,
      spawn: argv => $.process.spawn({ argv, cwd: $.plugin.root }),
      run: (argv, stdin) => $.process.run(argv, { stdin, cwd: $.plugin.root, timeoutMs: 120_000 }),
      fetch: (url, init) => $.http.fetch(url, init),
      after: (ms, fn) => $.clock.after(ms, fn),
      temporary: temporary || '/tmp',
      log: () => undefined,
    })
    await $.tool.register({
      name: 'stopwatch',
      description: 'times calls',
      inputSchema: { type: 'object', properties: {} },
      isDeferred: false,
    })
    return next(e)
  })

  on('tool.call', { tool: 'mcp__hindnote__notes_read' }, async ($, e, next) => {
    const start = performance.now()
    const answer = await next(e)
    whole.push(performance.now() - start)
    return answer
  })

  on('tool.call', { tool: 'mcp__stopwatch__stopwatch' }, async $ => {
    const [session_id, cwd] = await Promise.all([$.session.id(), $.session.root()])
    const request = { ...read, call: { session_id, cwd } }
    async function time(work: () => Promise<unknown>): Promise<number> {
      const start = performance.now()
      await work()
      return performance.now() - start
    }
    async function run(...argv: string[]): Promise<void> {
      const ran = await $.process.run([PYTHON, ...argv], { stdin: JSON.stringify(request), cwd: $.plugin.root })
      if (ran.exitCode !== 0) throw new Error(ran.stderr)
    }
    const answer = await helper!.call(request, true)
    if (answer.isError) return { isError: true, result: answer.text }
    const times: Record<string, number[]> = { whole, warm: [], bare: [], fallback: [] }
    for (let n = 0; n < CALLS; n++) times.warm.push(await time(() => helper!.call(request, true)))
    for (let n = 0; n < ROUNDS; n++) {
      times.bare.push(await time(() => run('-c', 'pass')))
      times.fallback.push(await time(() => run('-E', '-P', '-m', 'hindnote.hosts.claude')))
    }
    helper!.stop()
    return { result: JSON.stringify(times) }
  })
}
