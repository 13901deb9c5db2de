import { expect, test } from 'claude-code/testing'

import { collapsed } from '../hooks/draw'

const READ = 'mcp__hindnote__notes_read'
const EVENTS = 'mcp__hindnote__history_list'
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

test('each event of a list is a line that begins with what was said', () => {
  const rows = [
    'seq 1 | user\nat 2026-11-30 09:57Z\nWhere did we stop?\n\nTell me.',
    'seq 3 to 6 | folded\n2 events (bash 2)\nexpand: {"after_seq":2,"before_seq":7}',
    'session pi:s-1 | seq 9 | tool\nat 09:58Z\ntool bash | completed\n[preview: characters 0 to 9 of 20]\nall green',
    'same session | seq 12 | assistant\n',
  ]
  const frame = 'page_older: null\npage_newer: null'

  expect(collapsed(EVENTS, [...rows, frame].join('\n\n'))).toBe(
    [
      'user: Where did we stop? (seq 1, 2026-11-30 09:57Z)',
      'folded: 2 events (bash 2) (seq 3 to 6)',
      'tool: all green (seq 9, 09:58Z, tool bash | completed, preview: characters 0 to 9 of 20, pi:s-1)',
      'assistant: no text (seq 12)',
      '',
      frame,
    ].join('\n'),
  )
  expect(collapsed(EVENTS, `no events in this selection\n${frame}`)).toBeUndefined()
})

test('a long event is cut, and an event that is read comes before its facts', () => {
  const long = collapsed(EVENTS, `seq 1 | user\n${'x'.repeat(200)}\n\npage_older: null`)

  expect(long?.split('\n')[0]).toBe(`user: ${'x'.repeat(160)}… (seq 1)`)
  expect(collapsed('mcp__hindnote__history_read', 'seq 1 | user\n3 characters in all\n\nabc')).toBe(
    'abc\n\nseq 1 | user\n3 characters in all',
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
