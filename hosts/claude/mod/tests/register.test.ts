import type { On } from 'claude-code'
import { expect, mock, test } from 'claude-code/testing'

import { PROJECT_TOOLS, TOOLS } from '../hooks/tools'

type Reply = { text: string; status?: number } | { throws: string }

/** What stands beneath the mod: a session, and a helper that answers as told. */
class World {
  id = 's1'
  model = 'm1'
  transcriptPath = '/t/s1.jsonl'
  breaks = false
  canSpawn = true
  spawned: string[][] = []
  ended = 0
  asked: { path: string; body?: Record<string, unknown> }[] = []
  ran: { argv: string[]; stdin?: string }[] = []
  registered: string[] = []
  offered: string[] = TOOLS.map(({ name }) => `mcp__hindnote__${name}`)
  logged: string[] = []
  reply: (path: string) => Reply = () => answer('the text')
  once: () => { exitCode: number; stdout: string; stderr: string } = () => ({ exitCode: 0, stdout: JSON.stringify(OK), stderr: '' })

  constructor(on: On, env: Record<string, string> = {}) {
    mock.env(on, { TMPDIR: '/tmp/x/', ...env })
    mock.clock(on)
    on('session.start', (_, e) => ({ cwd: e.cwd }))
    on('session.end', (_, e) => ({ sessionId: e.sessionId }))
    on('session.id', () => (this.breaks ? { deny: 'a secret' } : { value: this.id }))
    on('session.root', () => ({ value: '/root' }))
    on('session.model', () => ({ value: this.model }))
    on('session.info', () => ({ value: { transcriptPath: this.transcriptPath } }))
    on('prompt.context', (_, e) => ({ blocks: e.blocks }))
    on('tool.list', () => ({ value: [...this.offered, 'Bash'].map(name => ({ name, description: '', mcp: true })) }))
    on('ui.log', (_, e) => {
      this.logged.push(e.text)
      return { value: undefined }
    })
    on('tool.register', (_, e) => {
      this.registered.push(`${e.name} ${String(e.isDeferred)}`)
      return { value: { tool: `mcp__hindnote__${e.name}` } }
    })
    on('http.fetch', (_, e) => {
      const path = `${e.init?.method} ${new URL(e.url).pathname}`
      this.asked.push({ path, body: typeof e.init?.body === 'string' ? JSON.parse(e.init.body) : undefined })
      const reply = this.reply(path)
      if ('throws' in reply) throw new Error(reply.throws)
      return { value: { status: reply.status ?? 200, ok: true, headers: {}, text: reply.text } }
    })
    on('process.run', (_, e) => {
      this.ran.push({ argv: [...e.argv], stdin: e.init?.stdin })
      return { value: { ...this.once(), isStdoutTruncated: false, isStderrTruncated: false } }
    })
    const world = this
    on('process.spawn', async function* (_, e, next) {
      world.spawned.push([...e.argv])
      if (!world.canSpawn) return { value: { code: 1, signal: null } }
      yield { stream: 'stdout', text: 'ready\n' } as const
      try {
        await new Promise<void>(resolve => next.signal.addEventListener('abort', () => resolve()))
      } finally {
        world.ended += 1
      }
      return { value: { code: 0, signal: null } }
    })
  }
}

const OK = { outcome: { ok: true, data: {} }, text: 'the text', isError: false }

function answer(text: string, isError = false): Reply {
  return { text: JSON.stringify({ outcome: { ok: !isError }, text, isError }) }
}

/** What the model reads of a call that has failed. */
async function failure(call: Promise<{ isError?: true; text?: string }>): Promise<string | undefined> {
  const { isError, text } = await call
  return isError && text
}

const START = { cwd: '/', surface: null, isInteractive: false } as const
const LIST = { tool: 'mcp__hindnote__notes_list', glob: '*' } as const
const WRITE = { tool: 'mcp__hindnote__notes_write', address: 'a', content: 'x' } as const

const TODOS = { tool: 'mcp__hindnote__project_todo_list' } as const

test('the seven are registered in front of the model, the project tools behind its search', async ($, on) => {
  const world = new World(on)
  await $.session.start(START)

  expect(world.registered).toEqual([
    ...TOOLS.map(tool => `${tool.name} false`),
    ...PROJECT_TOOLS.map(tool => `${tool.name} true`),
  ])
  expect(world.spawned).toEqual([])
  expect(world.logged).toEqual([])
})

for (const [choice, end, told] of [
  ['off', 'history_read false', []],
  ['direct', 'project_todo_transition false', []],
  ['codemode', 'project_todo_transition true', []],
  ['yes', 'project_todo_transition true', ['HINDNOTE_PROJECT_TOOLS is none of deferred, direct, off; it counts as unset']],
] as const) {
  test(`the person chose ${choice} for the project tools`, async ($, on) => {
    const world = new World(on, { HINDNOTE_PROJECT_TOOLS: choice })
    await $.session.start(START)

    expect(world.registered.at(-1)).toBe(end)
    expect(world.registered[0]).toBe('notes_list false')
    expect(world.logged).toEqual([...told])
  })
}

test('a call of a project tool is asked as one, and a native failure is a failed call', async ($, on) => {
  const world = new World(on)
  world.reply = () => answer('error: todo_conflict: duplicates', true)
  await $.session.start(START)

  expect(await failure($.tool.call(TODOS))).toBe('error: todo_conflict: duplicates')
  expect(world.asked[0]?.body).toEqual({
    kind: 'project',
    tool: 'project_todo_list',
    arguments: {},
    call: { session_id: 's1', session_file: '/t/s1.jsonl', call_id: expect.any(String), cwd: '/root', model: 'm1' },
  })
})

test('a call is asked as the session stands at that moment', async ($, on) => {
  const world = new World(on)
  await $.session.start(START)

  await $.tool.call(LIST)
  world.id = 's2'
  world.model = 'm2'
  world.transcriptPath = ''
  await $.tool.call(LIST)

  const [first, second] = world.asked.map(({ body }) => body)
  expect(first).toEqual({
    kind: 'call',
    operation: 'notes_list',
    arguments: { glob: '*' },
    call: { session_id: 's1', session_file: '/t/s1.jsonl', call_id: expect.any(String), cwd: '/root', model: 'm1' },
  })
  expect(second?.call).toEqual({ session_id: 's2', call_id: expect.any(String), cwd: '/root', model: 'm2' })
  expect(world.spawned.length).toBe(1)
})

test('the helper is started isolated, with a socket in a folder of its own', async ($, on) => {
  const world = new World(on)
  await $.session.start(START)
  await $.tool.call(LIST)

  const [argv] = world.spawned
  expect(argv?.slice(1, 7)).toEqual(['-E', '-P', '-m', 'hindnote.hosts.claude', 'serve', '--socket'])
  expect(argv?.[7]).toMatch(/^\/tmp\/x\/hindnote-[0-9a-f-]{36}\/s$/)
})

test('the text is the result, word for word', async ($, on) => {
  const world = new World(on)
  world.reply = () => answer(' a\u2028b\n\n')
  await $.session.start(START)

  expect(await $.tool.call(LIST)).toEqual({ result: ' a\u2028b\n\n' })
})

test('a refusal is a failed call with the bare text', async ($, on) => {
  const world = new World(on)
  world.reply = () => answer('error: not_found: no such note', true)
  await $.session.start(START)

  expect(await failure($.tool.call(LIST))).toBe('error: not_found: no such note')
})

test('an answer that takes long is fetched later', async ($, on) => {
  const world = new World(on)
  let rounds = 2
  world.reply = path =>
    path === 'GET /alive' ? answer('') : path === 'POST /' || rounds-- > 0 ? { status: 202, text: '/later/7' } : answer('at last')
  await $.session.start(START)

  expect(await $.tool.call(WRITE)).toEqual({ result: 'at last' })
  expect(world.asked.map(({ path }) => path).slice(1)).toEqual(['POST /', ...Array(3).fill('GET /later/7')])
})

test('a failure is told to the model as such', async ($, on) => {
  const world = new World(on)
  world.reply = () => ({ text: JSON.stringify({ failure: { kind: 'arguments', message: 'glob: no string' } }) })
  await $.session.start(START)

  expect(await failure($.tool.call(LIST))).toBe('glob: no string')
})

test('the text of a crash stays in the log', async ($, on) => {
  const world = new World(on)
  await $.session.start(START)
  world.breaks = true

  expect(await failure($.tool.call(LIST))).toMatch(/^hindnote failed unexpectedly/)
  expect(world.logged.join()).toMatch(/a secret/)
})

test('an answer of an unknown shape is a failure', async ($, on) => {
  const world = new World(on)
  await $.session.start(START)

  for (const text of ['', '[]', '{}', '{"text": 3, "isError": false}', '{"text": "x"}']) {
    world.reply = () => ({ text })
    expect(await failure($.tool.call(LIST))).toMatch(/^hindnote answered/)
  }
})

test('a helper that is gone is started again, and a look repeated', async ($, on) => {
  const world = new World(on)
  await $.session.start(START)
  await $.tool.call(LIST)
  let failures = 1
  world.reply = () => (failures-- > 0 ? { throws: 'connection refused' } : answer('again'))

  expect(await $.tool.call(LIST)).toEqual({ result: 'again' })
  expect(world.spawned.length).toBe(2)
})

test('a change is sent only to a helper that lives', async ($, on) => {
  const world = new World(on)
  await $.session.start(START)
  await $.tool.call(LIST)
  let failures = 1
  world.reply = () => (failures-- > 0 ? { throws: 'connection refused' } : answer('done'))

  expect(await $.tool.call(WRITE)).toEqual({ result: 'done' })
  expect(world.asked.map(({ path }) => path)).toEqual(['POST /', 'GET /alive', 'GET /alive', 'POST /'])
})

test('a change that was under way is never sent twice', async ($, on) => {
  const world = new World(on)
  await $.session.start(START)
  world.reply = path => (path === 'POST /' ? { throws: 'connection reset' } : answer(''))

  expect(await failure($.tool.call(WRITE))).toMatch(/may or may not have been made/)
  expect(world.asked.filter(({ path }) => path === 'POST /').length).toBe(1)
  expect(world.ran).toEqual([])
})

test('without a resident helper each call runs a process, and no start is tried for each', async ($, on) => {
  const world = new World(on)
  world.canSpawn = false
  await $.session.start(START)

  expect(await $.tool.call(WRITE)).toEqual({ result: 'the text' })
  expect(await $.tool.call(WRITE)).toEqual({ result: 'the text' })

  expect(world.ran.length).toBe(2)
  expect(world.ran[0]?.argv.slice(1)).toEqual(['-E', '-P', '-m', 'hindnote.hosts.claude'])
  expect(JSON.parse(world.ran[0]?.stdin ?? '').arguments).toEqual({ address: 'a', content: 'x' })
  expect(world.spawned.length).toBe(1)
  expect(world.asked).toEqual([])
})

test('a process that answers nothing is a failure that names the way out', async ($, on) => {
  const world = new World(on)
  world.canSpawn = false
  world.once = () => ({ exitCode: 1, stdout: '', stderr: 'No module named hindnote' })
  await $.session.start(START)

  expect(await failure($.tool.call(LIST))).toMatch(/exit status 1 .*install hindnote again/)
  expect(world.logged.join()).toMatch(/No module named hindnote/)

  world.once = () => ({ exitCode: 127, stdout: '', stderr: 'killed' })
  expect(await failure($.tool.call(LIST))).toMatch(/exit status 127 .*hindnote doctor/)
})

test('a Python that cannot be run is a failure that names it', async ($, on) => {
  const world = new World(on)
  world.canSpawn = false
  world.once = () => {
    throw new Error('ENOENT')
  }
  await $.session.start(START)

  expect(await failure($.tool.call(LIST))).toMatch(/^hindnote cannot run python3.*install hindnote again/)
})

test('the boot block comes after the blocks of the host', async ($, on) => {
  const world = new World(on)
  world.reply = () => ({ text: JSON.stringify({ text: 'what there is' }) })
  await $.session.start(START)

  const { blocks } = await $.prompt.context({ blocks: [{ name: 'currentDate', text: 'today' }] })

  expect(blocks).toEqual([
    { name: 'currentDate', text: 'today' },
    { name: 'hindnote', text: 'what there is' },
  ])
  expect(world.asked[0]?.body).toEqual({
    kind: 'boot',
    call: { session_id: 's1', session_file: '/t/s1.jsonl', cwd: '/root', model: 'm1' },
    tools: TOOLS.map(({ name }) => name),
  })
})

test('a session that was offered none of the tools gets no boot block', async ($, on) => {
  const world = new World(on)
  world.offered = []
  await $.session.start(START)

  const { blocks } = await $.prompt.context({ blocks: [] })

  expect(blocks).toEqual([])
  expect(world.asked).toEqual([])
})

test('a boot block that fails is shown to the person and leaves the blocks alone', async ($, on) => {
  const world = new World(on)
  world.reply = () => ({ text: JSON.stringify({ failure: { kind: 'crash', message: 'it broke' } }) })
  await $.session.start(START)

  const { blocks } = await $.prompt.context({ blocks: [{ name: 'currentDate', text: 'today' }] })

  expect(blocks).toEqual([{ name: 'currentDate', text: 'today' }])
  expect(world.logged).toEqual(['could not show what is known: it broke'])
})

test('the helper ends with the session, and not at a /clear', async ($, on) => {
  const world = new World(on)
  await $.session.start(START)
  await $.tool.call(LIST)
  const end = { sessionId: 's1', resume: { id: 's1' } }

  await $.session.end({ ...end, reason: 'clear' })
  await $.tool.call(LIST)
  expect(world.spawned.length).toBe(1)

  await $.session.end({ ...end, reason: 'other' })
  await $.tool.call(LIST)
  expect(world.spawned.length).toBe(2)
})
