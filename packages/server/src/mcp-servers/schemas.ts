/** MCP servers as the API takes and shows them. */
import Type from 'typebox';
import type { Static } from 'typebox';
import { Body, Enum, Id, IdInput, Nullable, Text, Time } from '../http/schemas.ts';

const MAX_SECRETS = 50;
const Name = Text('Search', { minLength: 1, maxLength: 100 });
const Transport = Enum(['http', 'stdio'], {
  description: '`http`: streamable HTTP, called by the service. `stdio`: a command, run inside the sandbox.',
});
const Url = Text('https://mcp.example.com/', {
  minLength: 1,
  maxLength: 2048,
  description: 'http or https. Put credentials into `headers`: the URL is visible.',
});
const Command = Text('node tools/mcp.mjs', {
  minLength: 1,
  maxLength: 10_000,
  description: 'A command line of /bin/sh, run in the workspace.',
});
const ProjectIds = Nullable(
  Type.Array(IdInput('prj'), {
    minItems: 1,
    maxItems: 100,
    description: 'Only these projects; null: every project of the organization.',
  }),
);

/** Names to values that are written and never read. */
const secrets = (
  name: string,
  value: { maxLength: number; pattern?: string },
  example: Record<string, string>,
  description: string,
) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: MAX_SECRETS,
    propertyNames: { pattern: name },
    additionalProperties: { type: 'string', ...value },
    writeOnly: true,
    examples: [example],
    description,
  });
const Headers = secrets(
  "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
  { maxLength: 4096, pattern: '^[\\x21-\\x7e]([\\x20-\\x7e\\t]*[\\x21-\\x7e])?$' },
  { Authorization: 'Bearer example' },
  'Sent to the `url` with each request. Stored encrypted, never returned, never in a sandbox.',
);
const Env = secrets(
  '^[A-Za-z_][A-Za-z0-9_]{0,99}$',
  { maxLength: 16_384 },
  { TOKEN: 'example' },
  'Environment of the `command`. Stored encrypted and never returned; the sandbox that runs the command contains it.',
);

const given = {
  url: Type.Optional(Url),
  command: Type.Optional(Command),
  headers: Type.Optional(Headers),
  env: Type.Optional(Env),
  projectIds: Type.Optional(ProjectIds),
};
/** `if` it is not of that transport, all is well. */
const needs = (transport: 'http' | 'stdio', field: string) => ({
  if: { properties: { transport: { not: { const: transport } } } },
  else: { required: [field] },
});

export const NewMcpServer = Body(
  { name: Name, transport: Transport, ...given },
  {
    allOf: [needs('http', 'url'), needs('stdio', 'command')],
    examples: [
      {
        name: 'Search',
        transport: 'http',
        url: 'https://mcp.example.com/',
        headers: { Authorization: 'Bearer example' },
      },
    ],
  },
);
export const McpServerChange = Body(
  { name: Type.Optional(Name), transport: Type.Optional(Transport), ...given },
  { examples: [{ name: 'Search' }] },
);
export type McpServerChange = Static<typeof McpServerChange>;

const Names = (example: string, description: string) =>
  Type.Array(Type.String(), { examples: [[example]], description });
export const McpServer = Type.Object({
  id: Id('mcp'),
  orgId: Id('org'),
  name: Name,
  transport: Transport,
  url: Nullable(Url),
  command: Nullable(Command),
  headers: Names('authorization', 'Names only, in lower case.'),
  env: Names('TOKEN', 'Names only.'),
  projectIds: Nullable(Type.Array(Type.String(), { examples: [['prj_01k9x3v5e8f7arh2m4t6w8y0zb']] })),
  createdAt: Time,
  updatedAt: Time,
});
