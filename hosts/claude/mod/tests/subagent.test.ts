import { expect, test } from 'claude-code/testing'

import { noteBlock, noteOffer, offersOf, withOwnBlock } from '../hooks/subagent'

const LAST = 'This is ambient context.'

test("a subagent's block stands where the main session's stood, beside the others", () => {
  noteBlock('as of noon\n\nNo notes yet.')
  const section = '# hindnote\nas of noon\n\nNo notes yet.'

  expect(withOwnBlock(`# a\nb\n\n${section}\n\n# c\nd\n\n${LAST}`, 'as of one: $& $1')).toBe(
    `# a\nb\n\n# hindnote\nas of one: $& $1\n\n# c\nd\n\n${LAST}`,
  )
  expect(withOwnBlock(`${section}\n\n# c\nd\n\n${LAST}`, '')).toBe(`# c\nd\n\n${LAST}`)
})

test('nothing is sent where the block was all that there was', () => {
  noteBlock('as of noon\n')

  expect(withOwnBlock(`# hindnote\nas of noon\n\n${LAST}`, '')).toBe(null)
})

test('a context without the block is left alone', () => {
  expect(withOwnBlock(`# a\nb\n\n${LAST}`, 'as of one')).toBeUndefined()
})

test('what a subagent was offered is known, and that nothing is', () => {
  expect(offersOf('a1')).toBeUndefined()
  noteOffer('a1', 'Read', true)
  noteOffer('a1', 'Bash', true)
  noteOffer('a1', 'Bash', false)
  noteOffer('a2', 'Read', false)

  expect([...(offersOf('a1') ?? [])]).toEqual(['Read'])
  expect(offersOf('a2')?.size).toBe(0)
})
