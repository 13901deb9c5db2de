/**
 * hindnote's process: started at the first request, ended with the session.
 *
 * A process that dies fails the requests in flight, once and clearly; the next
 * request starts another. Nothing in here may throw outside a promise: an unhandled
 * error in an extension ends Pi.
 */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { type EntrySync, newEntrySync } from "./session.ts";
import { parseLine, PROTOCOL } from "./wire.ts";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** How long a process may take to end by itself, in milliseconds. */
const PATIENCE = 1500;
/** Lines of the process's log that are kept, for `/hindnote`. */
const LOG_LINES = 20;
const LOOK = "run `hindnote doctor` to find out why";
/** Where hindnote is gone, so is its command: it has to come back before it can help. */
const REINSTALL = "install hindnote again, and then the extension with `hindnote install pi`";

interface Pending {
	resolve(value: unknown): void;
	reject(error: Error): void;
}

/** One running process with everything that dies with it. */
class Connection {
	readonly pending = new Map<string, Pending>();
	readonly entries: EntrySync = newEntrySync();
	readonly closed: Promise<void>;
	ready = false;
	over = false;
	private lastWords = "";
	readonly child: Child;
	private readonly log: (text: string) => void;
	private buffered = "";

	constructor(child: Child, log: (text: string) => void) {
		this.child = child;
		this.log = log;
		this.closed = new Promise((resolve) => {
			child.on("close", (code, signal) => {
				// What Python says where hindnote was uninstalled: its command went with it.
				const lost = /No module named '?hindnote\b/.test(this.lastWords);
				const how = `ended (${signal ?? `exit ${code}`})`;
				this.end(lost ? `${how}: ${this.lastWords}` : how, lost ? REINSTALL : LOOK);
				resolve();
			});
			child.on("error", (error) => {
				this.end(`could not be run (${error.message})`, REINSTALL);
				resolve();
			});
		});
		// Mostly a process that has just died; one that only stopped reading is of no use either.
		child.stdin.on("error", () => child.kill("SIGKILL"));
		child.stdout.setEncoding("utf8").on("data", (chunk: string) => this.take(chunk));
		child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
			this.lastWords = chunk.trim().split("\n").at(-1) ?? "";
			this.log(chunk);
		});
	}

	send(message: object): void {
		this.child.stdin.write(`${JSON.stringify(message)}\n`);
	}

	/** Fail what is in flight. The one who comes first says why. */
	end(how: string, advice = LOOK): void {
		if (this.over) return;
		this.over = true;
		const told = this.ready
			? `hindnote's process ${how} while the call ran; whether it was carried out is unknown. The next call starts another.`
			: `hindnote's process ${how} before it was ready; ${advice}`;
		for (const request of this.pending.values()) request.reject(new Error(told));
		this.pending.clear();
	}

	private take(chunk: string): void {
		const lines = (this.buffered + chunk).split("\n");
		this.buffered = lines.pop() ?? "";
		for (const line of lines) {
			try {
				this.receive(line);
			} catch {
				this.log(`not a response: ${line.slice(0, 200)}\n`);
				this.end("sent something that is no response");
				this.child.kill("SIGKILL");
				return;
			}
		}
	}

	private receive(text: string): void {
		const line = parseLine(text);
		if ("ready" in line) {
			if (line.ready.protocol !== PROTOCOL) {
				this.end("is of another hindnote than this extension", "run `hindnote install pi` again");
				this.child.stdin.end();
				return;
			}
			this.ready = true;
			return;
		}
		const request = this.pending.get(line.id);
		this.pending.delete(line.id);
		if (line.ok) request?.resolve(line.value);
		else request?.reject(new Error(line.failure.message));
	}
}

export interface Request {
	message: object;
	/** Entries to send first, when the session has no file. */
	live?: { header: object | null; entries: readonly { id: string }[] };
	signal?: AbortSignal;
}

export class Helper {
	readonly log: string[] = [];
	private connection: Connection | undefined;
	private count = 0;
	private stopped = false;
	private readonly python: () => string;

	constructor(python: () => string) {
		this.python = python;
	}

	/** Send one request and return the value of its response. */
	request({ message, live, signal }: Request): Promise<unknown> {
		return new Promise((resolve, reject) => {
			if (signal?.aborted) throw new Error("Operation aborted");
			const connection = this.connect();
			const id = String(++this.count);
			const abort = () => {
				if (!connection.pending.delete(id)) return;
				connection.send({ id, type: "cancel" });
				reject(new Error("Operation aborted"));
			};
			const settled = <T>(settle: (value: T) => void) => (value: T) => {
				signal?.removeEventListener("abort", abort);
				settle(value);
			};
			signal?.addEventListener("abort", abort, { once: true });
			connection.pending.set(id, { resolve: settled(resolve), reject: settled(reject) });
			const news = live && connection.entries.news(live.header, live.entries);
			if (news) connection.send({ type: "entries", ...news });
			// The id first: the process answers by it even when it cannot parse the rest.
			connection.send({ id, ...message });
		});
	}

	/** End the process: its input first, itself if that is not enough. */
	async stop(): Promise<void> {
		this.stopped = true;
		const connection = this.connection;
		if (!connection) return;
		connection.child.stdin.end();
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, PATIENCE);
		});
		await Promise.race([connection.closed, late]);
		clearTimeout(timer);
		connection.child.kill("SIGKILL");
	}

	private connect(): Connection {
		if (this.stopped) throw new Error("hindnote has ended with its session");
		if (!this.connection || this.connection.over) {
			// Neither a project's own files (-P) nor those that PYTHONPATH names (-E) may shadow
			// Python's or hindnote's modules.
			const child = spawn(this.python(), ["-E", "-P", "-m", "hindnote.hosts.pi"], {
				stdio: ["pipe", "pipe", "pipe"],
			});
			this.connection = new Connection(child, (text) => this.record(text));
		}
		return this.connection;
	}

	private record(text: string): void {
		this.log.push(...text.split("\n").filter((line) => line.trim() !== ""));
		this.log.splice(0, this.log.length - LOG_LINES);
	}
}
