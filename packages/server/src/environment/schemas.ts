/** Environment variables as the API takes and shows them. */
import Type from 'typebox';
import type { Static } from 'typebox';
import type { VariableTarget } from '../db/schema.ts';
import { Body, Enum, Id, Nullable, Text, Time } from '../http/schemas.ts';

/** In the order in which they are shown. */
export const TARGETS = ['run', 'exec', 'build', 'preview'] as const satisfies readonly VariableTarget[];

const SECRET_CHARACTERS = 8;

const Secret = Type.Boolean({
  examples: [true],
  description: 'The value is never shown, and masked in what comes out of sandboxes that have it.',
});
const Targets = Type.Array(Enum(TARGETS), {
  minItems: 1,
  maxItems: 100,
  examples: [['exec', 'build']],
  description:
    'Which sandboxes have it: those of runs, of commands, of builds, of previews. By default all of them; a secret all but `run`, where an agent could read it.',
});

export const NewVariable = Body(
  {
    value: Type.String({
      maxLength: 32_768,
      examples: ['https://api.example.com'],
      description: 'At most 32,768 bytes in UTF-8; a secret at least 8 characters.',
    }),
    secret: Type.Optional(Secret),
    targets: Type.Optional(Targets),
  },
  {
    // A short one would be masked wherever these few characters happen to stand.
    if: { properties: { secret: { not: { const: true } } } },
    else: { properties: { value: { minLength: SECRET_CHARACTERS } } },
    examples: [{ value: 'correct horse battery staple', secret: true, targets: ['exec', 'build'] }],
  },
);
export type NewVariable = Static<typeof NewVariable>;

export const Variable = Type.Object({
  id: Id('env'),
  name: Text('API_TOKEN'),
  value: Nullable(
    Text('https://api.example.com', { description: 'null: a secret, or one that cannot be decrypted.' }),
  ),
  secret: Secret,
  targets: Targets,
  level: Enum(['organization', 'app'], { description: 'The level that it is set at.' }),
  createdAt: Time,
  updatedAt: Time,
});
