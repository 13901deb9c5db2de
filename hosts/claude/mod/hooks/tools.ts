/** The tools, generated from what hindnote's core declares; never written by hand. */
import type { ToolSpec } from 'claude-code'

/** What stands before a tool's name as the model sees it. */
export const TOOL_PREFIX = "mcp__hindnote__"

/** The tools that only look, and so may run twice. */
export const READING: readonly string[] = [
  "notes_list",
  "notes_read",
  "notes_search",
  "history_list",
  "history_read",
  "project_artifact_search",
  "project_artifact_describe",
  "project_todo_list",
  "project_todo_validate",
  "project_todo_inspect"
]

/** The tools that change files of the project. */
export const EDITING: readonly string[] = [
  "project_todo_allocate",
  "project_todo_create",
  "project_todo_transition"
]

/** The seven operations. */
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
          "anyOf": [
            {
              "minimum": 1,
              "type": "integer"
            },
            {
              "type": "null"
            }
          ]
        },
        "after_seq": {
          "anyOf": [
            {
              "minimum": 0,
              "type": "integer"
            },
            {
              "type": "null"
            }
          ]
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

/** The tools for a project's documents and todos. */
export const PROJECT_TOOLS: readonly ToolSpec[] = [
  {
    "name": "project_artifact_search",
    "description": "Find Markdown documents and todos of this project by words and by exact frontmatter values, best first. Use it before writing something that may exist already. Returns {ok: true, data, completeness, effects} or {ok: false, error, effects}; check ok. Only the first 1,200 characters of each body are searched: preview_covered is false where a body goes on. completeness counts what was left out.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "workspace_root": {
          "description": "Directory to work in, inside the session's directory; default: that directory.",
          "type": "string"
        },
        "docs_root": {
          "description": "Documents below the workspace; default: docs.",
          "type": "string"
        },
        "todos_root": {
          "description": "Todos below the workspace; default: todos.",
          "type": "string"
        },
        "query": {
          "default": "",
          "description": "Words to find; a word of 3 letters or more also finds longer ones that begin with it.",
          "type": "string"
        },
        "required_terms": {
          "description": "Words or phrases that every hit must hold.",
          "items": {
            "type": "string"
          },
          "type": "array"
        },
        "optional_terms": {
          "description": "Words or phrases that raise a hit's score.",
          "items": {
            "type": "string"
          },
          "type": "array"
        },
        "filters": {
          "additionalProperties": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "boolean"
              },
              {
                "type": "integer"
              },
              {
                "type": "number"
              },
              {
                "items": {
                  "anyOf": [
                    {
                      "type": "string"
                    },
                    {
                      "type": "boolean"
                    },
                    {
                      "type": "integer"
                    },
                    {
                      "type": "number"
                    }
                  ]
                },
                "maxItems": 500,
                "type": "array"
              }
            ]
          },
          "description": "Frontmatter key to a value, or to values of which one must match; all keys must match.",
          "maxProperties": 50,
          "type": "object"
        },
        "scopes": {
          "description": "Default: docs and todos.",
          "items": {
            "enum": [
              "docs",
              "todos"
            ],
            "type": "string"
          },
          "minItems": 1,
          "type": "array"
        },
        "match": {
          "default": "all",
          "enum": [
            "all",
            "any",
            "phrase"
          ],
          "type": "string"
        },
        "limit": {
          "default": 20,
          "maximum": 100,
          "minimum": 1,
          "type": "integer"
        },
        "related_limit": {
          "default": 0,
          "description": "Related documents for each hit.",
          "maximum": 20,
          "minimum": 0,
          "type": "integer"
        },
        "max_snippet_chars": {
          "default": 220,
          "maximum": 1000,
          "minimum": 60,
          "type": "integer"
        },
        "freshness": {
          "default": "auto",
          "description": "auto: compare size, time and inode; strict: compare contents; memory: use no cache.",
          "enum": [
            "auto",
            "strict",
            "memory"
          ],
          "type": "string"
        },
        "rebuild": {
          "default": false,
          "description": "Make the index anew.",
          "type": "boolean"
        },
        "explain": {
          "default": false,
          "description": "Say with each hit how its score came about.",
          "type": "boolean"
        }
      },
      "type": "object"
    }
  },
  {
    "name": "project_artifact_describe",
    "description": "List what frontmatter fields mean and which fields the documents hold, with counts and types, to know what search can filter on. Returns {ok: true, data, completeness, effects} or {ok: false, error, effects}; check ok. Sample values come only with field_names and include_samples.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "workspace_root": {
          "description": "Directory to work in, inside the session's directory; default: that directory.",
          "type": "string"
        },
        "docs_root": {
          "description": "Documents below the workspace; default: docs.",
          "type": "string"
        },
        "todos_root": {
          "description": "Todos below the workspace; default: todos.",
          "type": "string"
        },
        "field_names": {
          "description": "Only these fields.",
          "items": {
            "type": "string"
          },
          "maxItems": 20,
          "type": "array"
        },
        "include_samples": {
          "default": false,
          "description": "Redacted sample values of the fields named in field_names.",
          "type": "boolean"
        }
      },
      "type": "object"
    }
  },
  {
    "name": "project_todo_list",
    "description": "List the project's todos with path, id, status, priority and content hash, and every issue found. Returns {ok: true, data, completeness, effects} or {ok: false, error, effects}; check ok. Issues with blocking: true block every change.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "workspace_root": {
          "description": "Directory to work in, inside the session's directory; default: that directory.",
          "type": "string"
        },
        "docs_root": {
          "description": "Documents below the workspace; default: docs.",
          "type": "string"
        },
        "todos_root": {
          "description": "Todos below the workspace; default: todos.",
          "type": "string"
        }
      },
      "type": "object"
    }
  },
  {
    "name": "project_todo_validate",
    "description": "Check all todos: names, frontmatter, duplicate ids, names that clash. The same scan as project_todo_list, for its issues; nothing is repaired. Returns {ok: true, data, completeness, effects} or {ok: false, error, effects}; check ok.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "workspace_root": {
          "description": "Directory to work in, inside the session's directory; default: that directory.",
          "type": "string"
        },
        "docs_root": {
          "description": "Documents below the workspace; default: docs.",
          "type": "string"
        },
        "todos_root": {
          "description": "Todos below the workspace; default: todos.",
          "type": "string"
        }
      },
      "type": "object"
    }
  },
  {
    "name": "project_todo_inspect",
    "description": "Check one todo by path: data.state is valid, invalid or conflict. Returns {ok: true, data, completeness, effects} or {ok: false, error, effects}; check ok.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "workspace_root": {
          "description": "Directory to work in, inside the session's directory; default: that directory.",
          "type": "string"
        },
        "docs_root": {
          "description": "Documents below the workspace; default: docs.",
          "type": "string"
        },
        "todos_root": {
          "description": "Todos below the workspace; default: todos.",
          "type": "string"
        },
        "path": {
          "description": "Workspace-relative, as project_todo_list shows it.",
          "type": "string"
        }
      },
      "required": [
        "path"
      ],
      "type": "object"
    }
  },
  {
    "name": "project_todo_allocate",
    "description": "Tell the next free todo id and the directory hash. Reserves nothing: project_todo_create allocates again. Finishes interrupted transitions first, which effects report. Returns {ok: true, data, completeness, effects} or {ok: false, error, effects}; check ok.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "workspace_root": {
          "description": "Directory to work in, inside the session's directory; default: that directory.",
          "type": "string"
        },
        "docs_root": {
          "description": "Documents below the workspace; default: docs.",
          "type": "string"
        },
        "todos_root": {
          "description": "Todos below the workspace; default: todos.",
          "type": "string"
        }
      },
      "type": "object"
    }
  },
  {
    "name": "project_todo_create",
    "description": "Create a todo file under the next id: title, priority (p1 to p3), body. Returns {ok: true, data, completeness, effects} or {ok: false, error, effects}; check ok. On ok: false look at effects before trying again: documents other than none means that something may have been written.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "workspace_root": {
          "description": "Directory to work in, inside the session's directory; default: that directory.",
          "type": "string"
        },
        "docs_root": {
          "description": "Documents below the workspace; default: docs.",
          "type": "string"
        },
        "todos_root": {
          "description": "Todos below the workspace; default: todos.",
          "type": "string"
        },
        "title": {
          "description": "One line; names the file as well.",
          "type": "string"
        },
        "priority": {
          "enum": [
            "p1",
            "p2",
            "p3"
          ],
          "type": "string"
        },
        "status": {
          "default": "pending",
          "enum": [
            "pending",
            "ready",
            "complete"
          ],
          "type": "string"
        },
        "body": {
          "description": "Markdown, kept as it is.",
          "type": "string"
        },
        "frontmatter": {
          "additionalProperties": true,
          "description": "Further frontmatter keys.",
          "type": "object"
        },
        "expected_directory_hash": {
          "description": "From project_todo_allocate or list; refused when the todos changed since.",
          "pattern": "^sha256:[0-9a-f]{64}$",
          "type": "string"
        }
      },
      "required": [
        "title",
        "priority",
        "body"
      ],
      "type": "object"
    }
  },
  {
    "name": "project_todo_transition",
    "description": "Move a todo to pending, ready or complete, in file name and frontmatter at once, when its content still has expected_content_hash. Returns {ok: true, data, completeness, effects} or {ok: false, error, effects}; check ok. On ok: false look at effects before trying again.",
    "inputSchema": {
      "additionalProperties": false,
      "properties": {
        "workspace_root": {
          "description": "Directory to work in, inside the session's directory; default: that directory.",
          "type": "string"
        },
        "docs_root": {
          "description": "Documents below the workspace; default: docs.",
          "type": "string"
        },
        "todos_root": {
          "description": "Todos below the workspace; default: todos.",
          "type": "string"
        },
        "path": {
          "description": "Workspace-relative, as project_todo_list shows it.",
          "type": "string"
        },
        "to_status": {
          "enum": [
            "pending",
            "ready",
            "complete"
          ],
          "type": "string"
        },
        "expected_content_hash": {
          "description": "The todo's hash as it was read; refused when it changed since.",
          "pattern": "^sha256:[0-9a-f]{64}$",
          "type": "string"
        }
      },
      "required": [
        "path",
        "to_status",
        "expected_content_hash"
      ],
      "type": "object"
    }
  }
]
