/**
 * The way to hindnote's Python helper: resident on a Unix socket, or one process per request.
 *
 * The resident helper is started when it is first needed and again when it has gone. Where it
 * cannot be started each request runs a process of its own, which is slower and no different.
 */

/** Who asks, and from where; what the helper knows as a host call. */
export type HostCall = {
  session_id: string
  session_file?: string
  call_id?: string
  agent_id?: string
  cwd: string
  model?: string
  agent?: string
  /** What only the Python side of this plugin understands. */
  extra?: { has_messages?: boolean }
}

export type CallRequest = {
  kind: 'call'
  operation: string
  arguments: Record<string, unknown>
  call: HostCall
}

export type ProjectRequest = {
  kind: 'project'
  tool: string
  arguments: Record<string, unknown>
  call: HostCall
}

/** A question for the boot block, which names no other operations than `tools`. */
export type BootRequest = { kind: 'boot'; call: HostCall; tools: readonly string[] }

/** The text that the model reads, and whether the outcome is a refusal or a native failure. */
export type Answer = { text: string; isError: boolean }

/** What the helper needs of the engine. */
export type Port = {
  python: string
  spawn: (argv: readonly string[]) => AsyncIterator<Piece, unknown> & AsyncIterable<Piece>
  run: (argv: readonly string[], stdin: string) => Promise<{ exitCode: number; stdout: string; stderr: string }>
  fetch: (url: string, init: { method: string; body?: string; socketPath: string }) => Promise<{ status: number; text: string }>
  after: (ms: number, fn: () => void) => unknown
  /** The system's folder for temporary files; the helper makes its own in it. */
  temporary: string
  log: (text: string) => void
}

type Piece = { stream: 'stdout' | 'stderr'; text: string }

type Resident = { socket: string; isReady: Promise<boolean>; hasAnswered: boolean; end: () => void }

const MODULE = ['-E', '-P', '-m', 'hindnote.hosts.claude'] as const
/** What Python says where hindnote was uninstalled: its command went with it, and has to come back first. */
const LOST = /No module named '?hindnote\b/
const REINSTALL = 'install hindnote again, and then the plugin with `hindnote install claude`'
const SOCKET_PATH_LIMIT = 100
const START_MS = 5_000
const RETRY_MS = 60_000

/** A message for the model; anything else that is thrown is a defect. */
export class HelperFailure extends Error {}

export class Helper {
  readonly #port: Port
  #resident: Resident | undefined
  #retryAt = 0

  constructor(port: Port) {
    this.#port = port
  }

  /**
   * Carries out one call.
   *
   * @param isRepeatable whether the tool only looks, so that it may run twice
   */
  async call(request: CallRequest | ProjectRequest, isRepeatable: boolean): Promise<Answer> {
    const response = await this.#ask(JSON.stringify(request), isRepeatable)
    if (typeof response.text !== 'string' || typeof response.isError !== 'boolean') {
      throw new HelperFailure('hindnote answered in an unknown shape; is its installation whole?')
    }
    return { text: response.text, isError: response.isError }
  }

  /** Returns the boot block; empty when there is nothing to say. */
  async boot(request: BootRequest): Promise<string> {
    const response = await this.#ask(JSON.stringify(request), true)
    if (typeof response.text !== 'string') {
      throw new HelperFailure('hindnote answered in an unknown shape; is its installation whole?')
    }
    return response.text
  }

  /** Ends the resident helper, if there is one. */
  stop(): void {
    this.#resident?.end()
    this.#resident = undefined
  }

  async #ask(body: string, isRepeatable: boolean): Promise<Record<string, unknown>> {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const resident = await this.#ready()
      if (resident === undefined) break
      try {
        // A change is sent only to a helper that has just answered: whoever has gone before
        // that never saw it, so it can be sent again.
        if (!isRepeatable) await this.#fetch(resident, '/alive')
      } catch {
        this.#forget(resident)
        continue
      }
      try {
        const text = await this.#fetch(resident, '/', body)
        resident.hasAnswered = true
        return parsed(text)
      } catch (error) {
        if (error instanceof HelperFailure) throw error
        this.#forget(resident)
        if (!isRepeatable) {
          throw new HelperFailure(
            'hindnote stopped while it carried out this call, and the change may or may not have been made: look before you repeat it',
          )
        }
      }
    }
    return this.#once(body)
  }

  async #fetch({ socket: socketPath }: Resident, path: string, body?: string): Promise<string> {
    const method = body === undefined ? 'GET' : 'POST'
    let reply = await this.#port.fetch(`http://helper${path}`, { method, body, socketPath })
    // The engine gives a request up after half a minute: a long answer is fetched later.
    while (reply.status === 202) {
      reply = await this.#port.fetch(`http://helper${reply.text}`, { method: 'GET', socketPath })
    }
    return reply.text
  }

  async #once(body: string): Promise<Record<string, unknown>> {
    let ran
    try {
      ran = await this.#port.run([this.#port.python, ...MODULE], body)
    } catch (error) {
      this.#port.log(messageOf(error))
      throw new HelperFailure(
        `hindnote cannot run ${this.#port.python}, or it did not end in time; if that Python is gone, ${REINSTALL}`,
      )
    }
    if (ran.stderr) this.#port.log(ran.stderr)
    if (ran.stdout === '') {
      const advice = LOST.test(ran.stderr) ? REINSTALL : '`hindnote doctor` looks into it'
      throw new HelperFailure(`hindnote did not answer (exit status ${ran.exitCode} of ${this.#port.python}); ${advice}`)
    }
    return parsed(ran.stdout)
  }

  /** The running helper, started if need be; undefined where none can be started for now. */
  async #ready(): Promise<Resident | undefined> {
    if (this.#resident === undefined) {
      if (Date.now() < this.#retryAt) return undefined
      this.#resident = this.#start()
    }
    const resident = this.#resident
    if (await resident.isReady) return resident
    this.#forget(resident)
    return undefined
  }

  #start(): Resident {
    const name = `hindnote-${crypto.randomUUID()}/s`
    const folder = this.#port.temporary.replace(/\/+$/, '')
    const socket = folder.length + name.length < SOCKET_PATH_LIMIT ? `${folder}/${name}` : `/tmp/${name}`
    const pieces = this.#port.spawn([this.#port.python, ...MODULE, 'serve', '--socket', socket])
    let settle: (isReady: boolean) => void = () => {}
    const isReady = new Promise<boolean>(resolve => (settle = resolve))
    const resident = { socket, isReady, hasAnswered: false, end: () => void pieces.return?.(undefined) }
    this.#port.after(START_MS, () => settle(false))
    void this.#follow(pieces, () => settle(true)).then(() => {
      settle(false)
      this.#forget(resident)
    })
    return resident
  }

  /** Reads what a helper writes until it ends; standard output says only that it is ready. */
  async #follow(pieces: AsyncIterable<Piece>, ready: () => void): Promise<void> {
    try {
      for await (const { stream, text } of pieces) {
        if (stream === 'stdout') ready()
        else this.#port.log(text)
      }
    } catch (error) {
      this.#port.log(`the helper could not be started: ${messageOf(error)}`)
    }
  }

  #forget(resident: Resident): void {
    if (this.#resident !== resident) return
    this.#resident = undefined
    // One that never answered would not the next time either: no start for every call.
    if (!resident.hasAnswered) this.#retryAt = Date.now() + RETRY_MS
    resident.end()
  }
}

/** Returns a response's object. Throws the failure that it holds. */
function parsed(text: string): Record<string, unknown> {
  let response: unknown
  try {
    response = JSON.parse(text)
  } catch {
    throw new HelperFailure('hindnote answered with no JSON; is its installation whole?')
  }
  if (!isObject(response)) throw new HelperFailure('hindnote answered in an unknown shape')
  if (isObject(response.failure)) throw new HelperFailure(String(response.failure.message))
  return response
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
