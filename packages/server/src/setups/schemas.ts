import Type from 'typebox';
import { Counter, Enum, Id, Nullable, Sha256, Text, Time } from '../http/schemas.ts';

export const SETUP_STATUSES = ['queued', 'running', 'ready', 'failed'] as const;
const SETUP_ERRORS = ['command_failed', 'timed_out', 'layer_too_large', 'sandbox_lost'] as const;

export interface SetupError {
  code: (typeof SETUP_ERRORS)[number];
  message: string;
}

export const Setup = Type.Object({
  id: Id('set'),
  projectId: Id('prj'),
  key: {
    ...Sha256,
    description: 'Of the command, and the path, mode and content of the files that the setting names.',
  },
  command: Text('npm ci'),
  sourceId: Id('src', 'The source for which it was made; others with the same key share it.'),
  status: Enum(SETUP_STATUSES),
  exitCode: Nullable(Type.Integer({ examples: [0] })),
  error: Nullable(Type.Object({ code: Enum(SETUP_ERRORS), message: Text('The command exited with 1.') })),
  byteSize: { ...Nullable(Counter), description: 'Of the layer; null unless it is ready.' },
  createdAt: Time,
  startedAt: Nullable(Time),
  finishedAt: Nullable(Time),
});
