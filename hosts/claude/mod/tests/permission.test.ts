import type { On } from 'claude-code'
import { expect, test } from 'claude-code/testing'

import { isDecided, isPlanMode, todoFile } from '../hooks/permission'

const PLAN = 'Cannot call mcp__hindnote__notes_list while in plan mode.'
const LIST = { tool: 'mcp__hindnote__notes_list', input: {} } as const
const WRITE = { tool: 'mcp__hindnote__notes_write', input: {} } as const
const CREATE = { tool: 'mcp__hindnote__project_todo_create', input: { todos_root: 'work' } } as const

type Verdict = { decision: 'allow' | 'ask' | 'deny'; reason?: string; rule?: string }

/** A session in which the tools are registered, and the verdict of all who are asked before the plugin. */
function below(on: On, verdict: (tool: string, input: unknown) => Verdict): void {
  on('session.start', (_, e) => ({ cwd: e.cwd }))
  on('session.root', () => ({ value: '/w/p' }))
  on('env.get', () => ({ value: undefined }))
  on('tool.register', (_, e) => ({ value: { tool: `mcp__hindnote__${e.name}` } }))
  on('tool.check', (_, e) => verdict(e.tool, e.input))
}

const START = { cwd: '/', surface: null, isInteractive: false } as const

test('where nobody has a word, the tools that stay out of the project run', async ($, on) => {
  below(on, () => ({ decision: 'ask' }))
  await $.session.start(START)

  expect((await $.tool.check(LIST)).decision).toBe('allow')
  expect((await $.tool.check(WRITE)).decision).toBe('allow')
})

test('what a rule decided stands', async ($, on) => {
  let verdict: Verdict = { decision: 'ask', rule: 'mcp__hindnote', reason: 'a rule' }
  below(on, () => verdict)
  await $.session.start(START)

  expect(await $.tool.check(LIST)).toEqual(verdict)
  verdict = { decision: 'deny', reason: 'no' }
  expect(await $.tool.check(LIST)).toEqual(verdict)
})

for (const decision of ['allow', 'ask', 'deny'] as const) {
  test(`a todo gets the ${decision} that an edit of its file would get`, async ($, on) => {
    const asked: unknown[] = []
    below(on, (tool, input) => {
      if (tool !== 'Write') return { decision: 'ask' }
      asked.push(input)
      return { decision }
    })
    await $.session.start(START)

    expect((await $.tool.check(CREATE)).decision).toBe(decision)
    expect(asked).toEqual([{ file_path: '/w/p/work/000-pending-p1-new-todo.md', content: '' }])
  })
}

test('a tool of another server of the same name is left alone', async ($, on) => {
  below(on, () => ({ decision: 'ask', reason: 'as it was' }))
  await $.session.start(START)

  expect(await $.tool.check({ tool: 'mcp__hindnote__delete_all', input: {} })).toEqual({ decision: 'ask', reason: 'as it was' })
})

test('a session that has not begun allows nothing', async ($, on) => {
  below(on, () => ({ decision: 'ask' }))

  expect((await $.tool.check(LIST)).decision).toBe('ask')
})

test('plan mode is told from a rule by the words of the host', () => {
  expect(isPlanMode({ decision: 'ask', reason: PLAN })).toBe(true)
  expect(isPlanMode({ decision: 'ask', reason: 'while in plan mode. Or not' })).toBe(false)
  expect(isPlanMode({ decision: 'deny', reason: PLAN })).toBe(false)
  expect(isPlanMode({ decision: 'ask' })).toBe(false)
})

test('an ask with any word behind it is decided', () => {
  expect(isDecided({ decision: 'ask', reason: 'by default' })).toBe(false)
  expect(isDecided({ decision: 'allow' })).toBe(true)
  for (const who of ['rule', 'hook', 'setting', 'plugin', 'ceiling'] as const) {
    expect(isDecided({ decision: 'ask', [who]: 'x' })).toBe(true)
  }
})

test('the file of a todo is named as the rules for edits read it', () => {
  const fresh = '000-pending-p1-new-todo.md'
  expect(todoFile('/w/p', undefined)).toBe(`/w/p/todos/${fresh}`)
  expect(todoFile('/w/p', { todos_root: 5, path: null })).toBe(`/w/p/todos/${fresh}`)
  expect(todoFile('/w/p', { todos_root: '../q/./t/' })).toBe(`/w/q/t/${fresh}`)
  expect(todoFile('/w/p', { workspace_root: 'sub', todos_root: 't' })).toBe(`/w/p/sub/t/${fresh}`)
  expect(todoFile('/w/p', { workspace_root: '/w/p/sub' })).toBe(`/w/p/sub/todos/${fresh}`)
  expect(todoFile('/w/p', { path: 'todos/001-ready-p1-x.md' })).toBe('/w/p/todos/001-ready-p1-x.md')
})
