import Type from 'typebox';
import { Body, Enum, Id, Nullable, Ok, Text, Time } from '../http/schemas.ts';

export const HostBody = Body({ name: Text("Kim's laptop", { minLength: 1, maxLength: 100 }) });

export const Host = Type.Object({
  id: Id('hst'),
  orgId: Id('org'),
  name: Text("Kim's laptop"),
  status: Enum(['online', 'offline']),
  share: Enum(['owner', 'organization'], {
    description: 'For whom threads work there, as its program was started: its person, or the organization.',
  }),
  userId: Id('usr', 'Its person.'),
  version: Nullable(Text('0.1.0', { description: 'Of its program.' })),
  providers: Type.Array(Enum(['agent_a', 'agent_b'])),
  lastSeenAt: Nullable(Time),
  createdAt: Time,
  updatedAt: Time,
});

export const HostWithToken = Ok({
  host: Host,
  token: Type.Optional(
    Text('hrh_01k9x3v5e8f7arh2m4t6w8y0zb_q8J1cVdXbS0mY3nT5uR7wZ9aB2dF4gH6kL8pN0sQxEw', {
      description: 'With this the program connects. Returned only once.',
    }),
  ),
  secretUnavailable: Type.Boolean({
    examples: [false],
    description: 'True in the response to a retry, which cannot return the token.',
  }),
});

export const Binding = Type.Object({
  id: Id('bnd'),
  hostId: Id('hst'),
  name: Text('site'),
  workspaceModes: Type.Array(Enum(['direct', 'worktree'])),
  isGit: Type.Boolean(),
  branch: Nullable(Text('main')),
  removed: Type.Boolean({ examples: [false], description: 'The host does not offer it any more.' }),
});
