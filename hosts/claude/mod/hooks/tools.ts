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
    "description": "List notes, newest first: this session's (no head), @project/, @human/, @self/, @model/. Others': glob @agents/** or @models/**.",
    "inputSchema": {
      "properties": {
        "cwd": {
          "description": "Directory of @project.",
          "type": "string"
        },
        "glob": {
          "description": "E.g. @project/**; * is one segment.",
          "type": "string"
        },
        "archived": {
          "default": false,
          "description": "Archived ones instead.",
          "type": "boolean"
        },
        "limit": {
          "description": "Default: what fits.",
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
    "description": "Read a note's body or a window of it; continue at next_offset_chars.",
    "inputSchema": {
      "properties": {
        "offset_chars": {
          "default": 0,
          "description": "Code point; negative: from the end.",
          "type": "integer"
        },
        "limit_chars": {
          "default": 12000,
          "maximum": 50000,
          "minimum": 1,
          "type": "integer"
        },
        "cwd": {
          "description": "Directory of @project.",
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
    "description": "Search note bodies by line; without query, list notes.",
    "inputSchema": {
      "properties": {
        "cwd": {
          "description": "Directory of @project.",
          "type": "string"
        },
        "glob": {
          "description": "E.g. @project/**; * is one segment.",
          "type": "string"
        },
        "archived": {
          "default": false,
          "description": "Archived ones instead.",
          "type": "boolean"
        },
        "limit": {
          "description": "Default: what fits.",
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
          "description": "Literals; any may match, in any case."
        },
        "about": {
          "description": "Question; best first.",
          "type": "string"
        }
      },
      "type": "object"
    }
  },
  {
    "name": "notes_write",
    "description": "Create a note or replace its body. Address: a path like plans/next (this session's), or @project/, @human/, @self/ or @model/ and a path.",
    "inputSchema": {
      "properties": {
        "cwd": {
          "description": "Directory of @project.",
          "type": "string"
        },
        "address": {
          "type": "string"
        },
        "content": {
          "description": "Body; its frontmatter is merged by key.",
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
          "description": "metadata.version it must have, or the word absent: it must not exist. Omitted: no check.",
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
    "description": "Edit a note's body by exact replacement, set its origin, archive, restore or rename it; all or nothing.",
    "inputSchema": {
      "properties": {
        "cwd": {
          "description": "Directory of @project.",
          "type": "string"
        },
        "address": {
          "type": "string"
        },
        "edits": {
          "description": "In order; each old_text must occur exactly once.",
          "items": {
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
          },
          "type": "array"
        },
        "replace_all": {
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
          "description": "false restores.",
          "type": "boolean"
        },
        "rename_to": {
          "description": "New address; only with expected_version and cwd.",
          "type": "string"
        },
        "expected_version": {
          "description": "As in notes_write.",
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
    "description": "List or search what was said and done. Without query and roles tool calls are folded; expand lists them. Next page: merge page_older or page_newer into the call. All sessions: {\"session\":\"*\",\"about\":\"...\"}.",
    "inputSchema": {
      "properties": {
        "session": {
          "description": "Another: <host>:<id>, an id or prefix, @parent; many: *, <host>:*, project:*.",
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
          "description": "Literals; any may match, in any case."
        },
        "about": {
          "description": "Question; best hits first.",
          "type": "string"
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
          "description": "Exclusive.",
          "minimum": 1,
          "type": [
            "integer",
            "null"
          ]
        },
        "after_seq": {
          "description": "Exclusive.",
          "minimum": 0,
          "type": [
            "integer",
            "null"
          ]
        },
        "since": {
          "description": "ISO 8601, inclusive.",
          "type": "string"
        },
        "until": {
          "description": "Exclusive; a date includes its day.",
          "type": "string"
        },
        "from": {
          "default": "newest",
          "description": "Where limit counts from.",
          "enum": [
            "newest",
            "oldest"
          ],
          "type": "string"
        },
        "limit": {
          "description": "20, about: 8.",
          "maximum": 200,
          "minimum": 1,
          "type": "integer"
        },
        "max_chars_per_item": {
          "description": "1200, about: 280.",
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
    "description": "Read one event: a message, or a tool call with arguments and output. Continue at next_offset_chars.",
    "inputSchema": {
      "properties": {
        "offset_chars": {
          "default": 0,
          "description": "Code point; negative: from the end.",
          "type": "integer"
        },
        "limit_chars": {
          "default": 12000,
          "maximum": 50000,
          "minimum": 1,
          "type": "integer"
        },
        "seq": {
          "minimum": 1,
          "type": "integer"
        },
        "session": {
          "description": "One session, as in history_list.",
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
