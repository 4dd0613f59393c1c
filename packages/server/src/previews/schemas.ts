import Type from 'typebox';
import { Enum, Id, Nullable, Text, Time } from '../http/schemas.ts';

export const PREVIEW_STATUSES = ['starting', 'ready', 'failed', 'stopped'] as const;
const PREVIEW_ERRORS = ['command_ended', 'start_timed_out', 'sandbox_lost', 'setup_failed'] as const;

export interface PreviewError {
  code: (typeof PREVIEW_ERRORS)[number];
  message: string;
}

/**
 * How long after its creation, or after the setup that it waited for, a preview may start, until something
 * listens on its port.
 */
export const START_SECONDS = 60;
/** A preview's whole life. */
export const LIFE_SECONDS = 8 * 3600;

/** How many previews may be open at once. */
export const MAX_OF_THREAD = 10;
export const MAX_OF_PROJECT = 50;

export const Command = Text('npm run dev', {
  minLength: 1,
  maxLength: 10_000,
  description: "Run by `sh -c` in the source's root.",
});
export const Port = Type.Integer({
  minimum: 1,
  maximum: 65_535,
  examples: [3000],
  description: "Where the command's server listens.",
});

export const Preview = Type.Object({
  id: Id('prv'),
  projectId: Id('prj'),
  threadId: Nullable(Id('thr', 'Null: a preview of the app, by no thread.')),
  sourceId: Nullable(Id('src', 'The source that it shows now. Null: its thread has none yet.')),
  follow: Nullable(
    Enum(['thread', 'head'], {
      description: 'Whose newer sources are written into it. Null: it shows one source.',
    }),
  ),
  status: Enum(PREVIEW_STATUSES),
  url: Text('http://01k9x3v5e8f7arh2m4t6w8y0zb.localhost:4400/', {
    description: 'Opens in a browser without a key: anyone who knows it sees the preview.',
  }),
  command: Command,
  port: Port,
  setup: Type.Boolean({ examples: [true], description: "It has the layer of the app's setup." }),
  error: Nullable(Type.Object({ code: Enum(PREVIEW_ERRORS), message: Text('The command ended with 3.') })),
  createdAt: Time,
  expiresAt: Nullable(Time),
});
