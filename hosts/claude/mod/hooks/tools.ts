export const TOOL_PREFIX = 'mcp__hindnote__'
export const TOOLS = [{name:'notes_list', description:'x', inputSchema: {type:'object'}}]
export const READING: readonly string[] = ['notes_list']
