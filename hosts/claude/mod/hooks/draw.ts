/**
 * What the person sees of an answer before it is expanded.
 *
 * Claude Code shows the first three lines of a result. The model's text begins with facts that
 * serve the next call, so the lines that a person looks for are put in front.
 */
import { TOOL_PREFIX } from './tools'

/** The start of a content hash; a person compares no more of it. */
const HASH = /^(sha256:[0-9a-f]{12})[0-9a-f]+$/

/** The first line of a row of a list of events: its session, its seqs and its role. */
const ROW = /^(?:session (.+) \| |same session \| )?seq (\d+(?: to \d+)?) \| ([a-z]+)$/

/** The lines between that one and the text of an event, in their order. */
const FACTS = [/^at (.+)$/, /^(tool .+ \| .+)$/, /^\[((?:preview|also in|\d+ match).+)\]$/]

/** UTF-16 units of an event's text on its line, at most. */
const SHOWN = 160

/**
 * Returns the text to draw for a collapsed result.
 *
 * @param tool the tool's name as the model sees it
 * @param text the text that the model was sent
 * @returns undefined where the text is drawn as it is
 */
export function collapsed(tool: string, text: string): string | undefined {
  const name = tool.slice(TOOL_PREFIX.length)
  if (name === 'notes_read' || name === 'history_read') return textFirst(text)
  if (name === 'history_list') return eventsAsLines(text)
  if (name.startsWith('project_')) return factsAsLines(text)
  return undefined
}

/** What was read, and below it the facts about it that came first. */
function textFirst(text: string): string | undefined {
  const end = text.indexOf('\n\n')
  return end < 0 ? undefined : `${text.slice(end + 2)}\n\n${text.slice(0, end)}`
}

/** A line for each row of a list of events, each with its text first; the lines behind them stay. */
function eventsAsLines(text: string): string | undefined {
  const blocks = text.split(/\n\n+/)
  const rows = blocks.slice(0, -1).map(eventLine).filter(line => line !== undefined)
  return rows.length === 0 ? undefined : [...rows, '', blocks.at(-1)].join('\n')
}

/** One row as a line; undefined for what is a further paragraph of the row above. */
function eventLine(block: string): string | undefined {
  const [head = '', ...rest] = block.split('\n')
  const row = ROW.exec(head)
  if (row === null) return undefined
  const [, session, seqs, role] = row
  const facts = [`seq ${seqs}`]
  for (const fact of FACTS) {
    const found = fact.exec(rest[0] ?? '')
    if (found === null) continue
    facts.push(found[1] ?? '')
    rest.shift()
  }
  if (session !== undefined) facts.push(session)
  const told = plain(rest.find(line => line.trim() !== '') ?? 'no text')
  const shown = told.length > SHOWN ? `${told.slice(0, SHOWN)}…` : told
  return `${role}: ${shown} (${facts.join(', ')})`
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
