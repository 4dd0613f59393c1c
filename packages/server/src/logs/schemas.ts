import Type from 'typebox';
import { Body, Counter, Text } from '../http/schemas.ts';

/**
 * The part of a command's output that is kept, in bytes of UTF-8. The runner hands over more of one stream,
 * so that a cut is always known.
 */
export const LOG_BYTES = 2 * 1024 * 1024;
/** The most of a log in one answer with an offset, in bytes of UTF-8. */
export const LOG_PAGE_BYTES = 256 * 1024;

/** A log of a `what`, as the API shows it. */
export const LogsOf = (what: 'build' | 'setup') =>
  Type.Object({
    text: Text(what === 'build' ? '> build\n' : 'added 412 packages\n'),
    byteSize: { ...Counter, description: 'The size of the whole log so far.' },
    truncated: Type.Boolean({
      examples: [false],
      description: 'The log has only the first 2 MiB of the output; its last line says so.',
    }),
    nextOffset: { ...Counter, description: 'Where this text ends: the next `offset`.' },
    ended: Type.Boolean({
      examples: [false],
      description: `The ${what} has ended, and the log has nothing after \`nextOffset\`.`,
    }),
  });

export const LogsQuery = (what: 'build' | 'setup') =>
  Body({
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'The text from this byte on, at most 256 KiB, cut between characters. Start at 0 and continue at `nextOffset`. When omitted, the whole log.',
      }),
    ),
    waitSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30,
        description: `Answer when the log has text after \`offset\`, when the ${what} has ended, or after this many seconds.`,
      }),
    ),
  });
