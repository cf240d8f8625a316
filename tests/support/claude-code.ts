/**
 * Requests in the shape of Claude Code's own (2.x): system blocks and tools with marks of a cache,
 * many tools, a session's number as metadata, thinking, betas in a header, `?beta=true`.
 */

const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } };

const names = [
  'Task',
  'Bash',
  'Glob',
  'Grep',
  'Read',
  'Edit',
  'Write',
  'NotebookEdit',
  'WebFetch',
  'TodoWrite',
  'BashOutput',
  'KillShell',
  'Skill',
  'SlashCommand',
  'mcp__ide__getDiagnostics',
  'mcp__ide__executeCode',
];

const tools = names.map((name) => ({
  name,
  description: `${name}: executes a given operation with an optional timeout, ensuring proper handling.`,
  input_schema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command to execute' },
      timeout: { type: 'number', description: 'Optional timeout in milliseconds (max 600000)' },
    },
    required: ['command'],
    additionalProperties: false,
  },
}));

export const claudeCodeHeaders = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta':
    'claude-code-20250219,context-1m-2025-08-07,interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14',
  'anthropic-dangerous-direct-browser-access': 'true',
  'user-agent': 'claude-cli/2.0.55 (external, cli)',
  'x-app': 'cli',
  'x-stainless-lang': 'js',
};

const userId =
  'user_6e0fd1b3c9a84f5db1c5f0e2a7d94b13_account__session_0b7f6c2e-9a3d-4a55-8e0e-6d8f3c1b2a90';

/** The second turn of a session: a tool was called and has answered. */
export const claudeCodeTurn = (model: string, signature: string) => ({
  model,
  max_tokens: 32_000,
  stream: true,
  temperature: 1,
  metadata: { user_id: userId },
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.0.55; cc_entrypoint=cli' },
    {
      type: 'text',
      text: "You are Claude Code, Anthropic's official CLI for Claude.",
      ...cached,
    },
    { type: 'text', text: 'You are an interactive CLI tool that helps users.', ...cached },
  ],
  thinking: { type: 'enabled', budget_tokens: 31_999 },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  tools,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>\nAs you answer …\n</system-reminder>' },
        { type: 'text', text: '列出这个文件夹里的文件' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: '用 ls 就可以。', signature },
        { type: 'text', text: '我来看看。' },
        {
          type: 'tool_use',
          id: 'toolu_01A09q90qw90lq917835lq9',
          name: 'Bash',
          input: { command: 'ls' },
        },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_01A09q90qw90lq917835lq9',
          content: 'README.md\nsrc',
          is_error: false,
          ...cached,
        },
      ],
    },
  ],
});

/** What it asks at first, to see whether its key is good. */
export const claudeCodeQuota = (model: string) => ({
  model,
  max_tokens: 1,
  messages: [{ role: 'user', content: 'quota' }],
  metadata: { user_id: userId },
});
