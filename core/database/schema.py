"""The tables of a notes home, by version.

Each migration adds to the one before and is never changed once it was released. All tables are in
the schema ``hindnote`` of the database, so that they can lie beside those of other programs.
"""

from __future__ import annotations

VERSION = """
CREATE SCHEMA IF NOT EXISTS hindnote;
CREATE TABLE IF NOT EXISTS hindnote.version (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL
);
INSERT INTO hindnote.version (version) VALUES (0) ON CONFLICT DO NOTHING;
"""

NOTES = """
CREATE TABLE hindnote.notes (
    owner text COLLATE "C" NOT NULL,       -- a role; empty: the team's
    home text COLLATE "C" NOT NULL,        -- as in a folder: project/<key>, human, agents/<slug>
    path text COLLATE "C" NOT NULL,        -- within the home
    folded text COLLATE "C" NOT NULL,      -- the path as other systems may confuse it
    data bytea,                            -- the whole note; NULL: a folder
    change uuid NOT NULL,                  -- the last change
    modified_ns bigint NOT NULL,
    born_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,            -- from here on what a list shows
    created_ms bigint NOT NULL,
    chars integer NOT NULL,
    archived_at text,
    problem text,
    PRIMARY KEY (owner, home, path),
    CONSTRAINT one_spelling UNIQUE (owner, home, folded)
);

CREATE TABLE hindnote.changes (
    id uuid PRIMARY KEY,
    kind text NOT NULL,                    -- write, move, remove, or void: was not carried out
    owner text COLLATE "C" NOT NULL,
    home text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    moved_from text COLLATE "C",           -- home and path before a move
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    role text NOT NULL DEFAULT current_user,
    machine text NOT NULL,
    host text,
    session text,
    agent text,
    model text,
    version text,                          -- short hash of the bytes, as results show it
    data bytea
);
CREATE INDEX changes_of_note ON hindnote.changes (owner, home, path, at);

CREATE TABLE hindnote.reads (
    owner text COLLATE "C" NOT NULL DEFAULT '',
    home text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    last_ms bigint NOT NULL,
    PRIMARY KEY (owner, home, path)
);

ALTER TABLE hindnote.notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE hindnote.changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE hindnote.reads ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON hindnote.notes USING (owner IN ('', current_user));
CREATE POLICY own ON hindnote.changes USING (owner IN ('', current_user));
CREATE POLICY own ON hindnote.reads USING (owner IN ('', current_user));
"""

MIGRATIONS: tuple[str, ...] = (NOTES,)
"""What each version adds; the first entry makes version 1. New tables go to the end."""

KNOWN = len(MIGRATIONS)
"""The version that this hindnote uses."""

VERSION_QUERY = "SELECT version FROM hindnote.version"
