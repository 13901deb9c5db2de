/**
 * What hindnote's process sends, and the check of it.
 *
 * The protocol is described in `hosts/pi/protocol.py`. Everything that comes in is
 * parsed here before anything else looks at it.
 */

import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";

/** What is stored with a project tool's result for its drawing; rows that are too much are only counted. */
export const Summary = Type.Object({
	summary: Type.String(),
	rows: Type.Optional(Type.Array(Type.String())),
	rows_omitted: Type.Optional(Type.Number()),
});
export type Summary = Static<typeof Summary>;

/** The protocol that this extension speaks. */
export const PROTOCOL = 2;

const Status = Type.Object({
	version: Type.String(),
	pid: Type.Number(),
	home: Type.String(),
	hosts: Type.Array(Type.String()),
	refused: Type.Array(Type.String()),
});

const Answer = Type.Object({
	result: Type.Record(Type.String(), Type.Unknown()),
	text: Type.String(),
	isError: Type.Boolean(),
	extras: Type.Object({ before: Type.Optional(Type.String()), after: Type.Optional(Type.String()) }),
});

const ProjectAnswer = Type.Object({
	result: Type.Record(Type.String(), Type.Unknown()),
	blocks: Type.Array(Type.String()),
	details: Summary,
	isError: Type.Boolean(),
});

const Line = Type.Union([
	Type.Object({ ready: Type.Object({ protocol: Type.Number() }) }),
	Type.Object({ id: Type.String(), ok: Type.Literal(true), value: Type.Unknown() }),
	Type.Object({
		id: Type.String(),
		ok: Type.Literal(false),
		failure: Type.Object({ kind: Type.String(), message: Type.String() }),
	}),
]);

const Boot = Type.Object({ text: Type.String() });

export type Status = Static<typeof Status>;
export type Answer = Static<typeof Answer>;
export type ProjectAnswer = Static<typeof ProjectAnswer>;
export type Line = Static<typeof Line>;

/** What the shim tells of the session with each request. */
export interface HostFacts {
	cwd: string;
	sessionId: string;
	sessionFile?: string;
	leafId?: string;
	callId?: string;
	agentDir: string;
	model?: string;
	live: boolean;
	parentSession?: string;
	started?: string;
}

/** Check a value's shape; the text of a mismatch is of no use to anybody but its makers. */
function parsed<T extends TSchema>(schema: T, value: unknown): Static<T> {
	if (Value.Check(schema, value)) return value;
	throw new Error("hindnote answered in a form that this extension does not know; run `hindnote install pi` again");
}

export const parseLine = (line: string): Line => parsed(Line, JSON.parse(line));
export const parseAnswer = (value: unknown): Answer => parsed(Answer, value);
export const parseProjectAnswer = (value: unknown): ProjectAnswer => parsed(ProjectAnswer, value);
export const parseBoot = (value: unknown): string => parsed(Boot, value).text;
export const parseStatus = (value: unknown): Status => parsed(Status, value);
