/** The seven tools, generated from hindnote's operations; never written by hand. */
import type { ToolSpec } from 'claude-code'

/** What stands before a tool's name as the model sees it. */
export const TOOL_PREFIX = "mcp__hindnote__"

/** The operations that only look, and so may run twice. */
export const READING: readonly string[] = [
  "notes_list",
  "notes_read",
  "notes_search",
  "history_list",
  "history_read"
]

export const TOOLS: readonly ToolSpec[] = [
  {
    "name": "notes_list",
    "description": "List your notes, newest first: this session's (no head), @project/, @human/, @self/ and @model/. Other agents' and models' notes: glob @agents/** or @models/**.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "cwd": {
          "description": "Directory that decides @project for this call.",
          "type": "string"
        },
        "glob": {
          "description": "Whole addresses to match, e.g. @project/**; * stays within a segment.",
          "type": "string"
        },
        "archived": {
          "default": false,
          "description": "Show the archived notes instead.",
          "type": "boolean"
        },
        "limit": {
          "description": "Most notes to return.",
          "maximum": 1000,
          "minimum": 1,
          "type": "integer"
        }
      },
      "type": "object"
    }
  },
  {
    "name": "notes_read",
    "description": "Read a note's body, or a window of it. Continue with next_offset_chars. metadata.version serves as expected_version.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "offset_chars": {
          "default": 0,
          "description": "First code point to return; negative counts from the end.",
          "type": "integer"
        },
        "limit_chars": {
          "default": 12000,
          "description": "Code points to return, at most.",
          "maximum": 50000,
          "minimum": 1,
          "type": "integer"
        },
        "cwd": {
          "description": "Directory that decides @project for this call.",
          "type": "string"
        },
        "address": {
          "type": "string"
        }
      },
      "required": [
        "address"
      ],
      "type": "object"
    }
  },
  {
    "name": "notes_search",
    "description": "Search the bodies of your notes line by line. Without a query, the notes in scope come back without matches.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "cwd": {
          "description": "Directory that decides @project for this call.",
          "type": "string"
        },
        "glob": {
          "description": "Whole addresses to match, e.g. @project/**; * stays within a segment.",
          "type": "string"
        },
        "archived": {
          "default": false,
          "description": "Show the archived notes instead.",
          "type": "boolean"
        },
        "limit": {
          "description": "Most notes to return.",
          "maximum": 1000,
          "minimum": 1,
          "type": "integer"
        },
        "query": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "items": {
                "type": "string"
              },
              "type": "array"
            }
          ],
          "description": "Literal texts, any of which may match; case is ignored."
        }
      },
      "type": "object"
    }
  },
  {
    "name": "notes_write",
    "description": "Create a note, or replace its whole body. An address is a path like plans/next (a note of this session), or @project/, @human/, @self/ or @model/ and a path. For a small change use notes_update.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "cwd": {
          "description": "Directory that decides @project for this call.",
          "type": "string"
        },
        "address": {
          "type": "string"
        },
        "content": {
          "description": "The whole body; frontmatter at its head is merged by key.",
          "type": "string"
        },
        "origin": {
          "default": "self",
          "description": "Whose knowledge it is.",
          "enum": [
            "user",
            "self",
            "external"
          ],
          "type": "string"
        },
        "expected_version": {
          "description": "Refuse unless the note has this version; absent: only create.",
          "type": "string"
        }
      },
      "required": [
        "address",
        "content"
      ],
      "type": "object"
    }
  },
  {
    "name": "notes_update",
    "description": "Edit a note's body by exact replacement, set its origin, archive or restore it, or rename it. All or nothing.",
    "inputSchema": {
      "$defs": {
        "Edit": {
          "additionalProperties": false,
          "properties": {
            "old_text": {
              "type": "string"
            },
            "new_text": {
              "type": "string"
            }
          },
          "required": [
            "old_text",
            "new_text"
          ],
          "type": "object"
        }
      },
      "additionalProperties": false,
      "properties": {
        "cwd": {
          "description": "Directory that decides @project for this call.",
          "type": "string"
        },
        "address": {
          "type": "string"
        },
        "edits": {
          "description": "Applied in order, all or none; each old_text must occur exactly once.",
          "items": {
            "$ref": "#/$defs/Edit"
          },
          "type": "array"
        },
        "replace_all": {
          "description": "Replace every occurrence instead.",
          "type": "boolean"
        },
        "origin": {
          "enum": [
            "user",
            "self",
            "external"
          ],
          "type": "string"
        },
        "archived": {
          "description": "Archive, or restore.",
          "type": "boolean"
        },
        "rename_to": {
          "description": "New address; goes with expected_version and cwd alone.",
          "type": "string"
        },
        "expected_version": {
          "type": "string"
        }
      },
      "required": [
        "address"
      ],
      "type": "object"
    }
  },
  {
    "name": "history_list",
    "description": "List or search the recorded history of this session, or of others, beyond what is still in context. Without query and roles, runs of tool calls are folded; a folded row's expand lists them. Merge page_older or page_newer into the same call for the next page. Rows hold previews; history_read gives the whole event. Search all sessions with {\"session\": \"*\", \"query\": [...]}: any literal matches, case-insensitive; newest session first.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "session": {
          "description": "Another session: `<host>:<id>`, an id or a unique prefix of one, `@parent`; or many:\n`*`, `<host>:*`, `project:*`.",
          "type": "string"
        },
        "query": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "items": {
                "type": "string"
              },
              "type": "array"
            }
          ],
          "description": "Only events that contain any of these literals, case-insensitive."
        },
        "roles": {
          "items": {
            "enum": [
              "user",
              "assistant",
              "tool",
              "context"
            ],
            "type": "string"
          },
          "type": "array"
        },
        "before_seq": {
          "minimum": 1,
          "type": "integer"
        },
        "after_seq": {
          "minimum": 0,
          "type": "integer"
        },
        "since": {
          "description": "ISO 8601 date or date-time, inclusive.",
          "type": "string"
        },
        "until": {
          "description": "Exclusive; a date alone includes that day.",
          "type": "string"
        },
        "from": {
          "default": "newest",
          "description": "The end of the range that limit counts from.",
          "enum": [
            "newest",
            "oldest"
          ],
          "type": "string"
        },
        "limit": {
          "default": 20,
          "maximum": 200,
          "minimum": 1,
          "type": "integer"
        },
        "max_chars_per_item": {
          "default": 1200,
          "maximum": 12000,
          "minimum": 1,
          "type": "integer"
        }
      },
      "type": "object"
    }
  },
  {
    "name": "history_read",
    "description": "Read one event of history by its seq: a message, or a tool call with its full arguments and output. Continue a long one at next_offset_chars; a negative offset_chars reads the end.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "offset_chars": {
          "default": 0,
          "description": "First code point to return; negative counts from the end.",
          "type": "integer"
        },
        "limit_chars": {
          "default": 12000,
          "description": "Code points to return, at most.",
          "maximum": 50000,
          "minimum": 1,
          "type": "integer"
        },
        "seq": {
          "description": "The event's address, from history_list.",
          "minimum": 1,
          "type": "integer"
        },
        "session": {
          "description": "As in history_list, one session.",
          "type": "string"
        }
      },
      "required": [
        "seq"
      ],
      "type": "object"
    }
  }
]
