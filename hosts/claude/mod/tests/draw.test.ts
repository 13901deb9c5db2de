import { expect, test } from 'claude-code/testing'

import { collapsed } from '../hooks/draw'

const READ = 'mcp__hindnote__notes_read'
const TODOS = 'mcp__hindnote__project_todo_list'

test('a note comes before the facts about it', () => {
  const head = '@project/plan.md | version 4a88dd2c028b\norigin self'

  expect(collapsed(READ, `${head}\n\n# Plan\n\nShip it.`)).toBe(`# Plan\n\nShip it.\n\n${head}`)
  expect(collapsed(READ, 'no body')).toBeUndefined()
})

test('the facts of a project tool are lines, lists first, and the receipt stays', () => {
  const hash = `sha256:${'ab'.repeat(32)}`
  const facts = {
    root: { path: 'todos', availability: 'present' },
    todos: [{ path: 'todos/001-pending-p1-fix.md', id: 1, hash, nested: { a: 1 } }],
    issues: [],
    reserved: false,
  }

  expect(collapsed(TODOS, `${JSON.stringify(facts)}\ncomplete\neffects: none`)).toBe(
    [
      'todos: 1',
      '  todos/001-pending-p1-fix.md | 1 | sha256:abababababab',
      'root: todos | present',
      'issues: none',
      'reserved: false',
      'complete',
      'effects: none',
    ].join('\n'),
  )
})

test('a value never breaks its line', () => {
  expect(collapsed(TODOS, JSON.stringify({ results: [{ snippet: 'a\nb\u2028c', covered: true }] }))).toBe(
    'results: 1\n  a b c | covered yes',
  )
})

test('what is no JSON, and the answer of any other tool, is drawn as it is', () => {
  expect(collapsed(TODOS, '2 todos\n  a line')).toBeUndefined()
  expect(collapsed(TODOS, '5')).toBeUndefined()
  expect(collapsed('mcp__hindnote__notes_list', '0 notes\n\nx')).toBeUndefined()
})
