/**
 * What the person sees of an answer before it is expanded.
 *
 * Claude Code shows the first three lines of a result. The model's text begins with facts that
 * serve the next call, so the lines that a person looks for are put in front.
 */
import { TOOL_PREFIX } from './tools'

/** The start of a content hash; a person compares no more of it. */
const HASH = /^(sha256:[0-9a-f]{12})[0-9a-f]+$/

/**
 * Returns the text to draw for a collapsed result.
 *
 * @param tool the tool's name as the model sees it
 * @param text the text that the model was sent
 * @returns undefined where the text is drawn as it is
 */
export function collapsed(tool: string, text: string): string | undefined {
  const name = tool.slice(TOOL_PREFIX.length)
  if (name === 'notes_read') return noteFirst(text)
  if (name.startsWith('project_')) return factsAsLines(text)
  return undefined
}

/** The note's body, and below it the facts about the note that came first. */
function noteFirst(text: string): string | undefined {
  const end = text.indexOf('\n\n')
  return end < 0 ? undefined : `${text.slice(end + 2)}\n\n${text.slice(0, end)}`
}

/** The JSON of a small answer as lines, its lists first; the lines behind it stay. */
function factsAsLines(text: string): string | undefined {
  const [first = '', ...rest] = text.split('\n')
  let facts: unknown
  try {
    facts = JSON.parse(first)
  } catch {
    return undefined
  }
  if (typeof facts !== 'object' || facts === null) return undefined
  const lists: string[] = []
  const others: string[] = []
  for (const [name, value] of Object.entries(facts)) {
    const label = name.replaceAll('_', ' ')
    if (!Array.isArray(value)) others.push(`${label}: ${inOneLine(value)}`)
    else if (value.length > 0) lists.push(`${label}: ${value.length}`, ...value.map(item => `  ${inOneLine(item)}`))
    else others.push(`${label}: none`)
  }
  return [...lists, ...others, ...rest].join('\n')
}

/** The plain values of an object; those that hold further objects are left to the whole text. */
function inOneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return plain(value)
  return Object.entries(value)
    .filter(([, part]) => typeof part !== 'object' && part !== '')
    .map(([name, part]) => (typeof part === 'boolean' ? `${name} ${part ? 'yes' : 'no'}` : plain(part)))
    .join(' | ')
}

function plain(value: unknown): string {
  return String(value).replace(HASH, '$1').replace(/\s+/g, ' ')
}
