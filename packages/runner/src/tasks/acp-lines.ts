import type { Readable } from 'node:stream';
import { AcpFault } from './acp-fault.ts';
import { checkShape } from './json-shape.ts';

const LINE_BYTES = 8 * 1024 ** 2,
  FIRST_BYTES = 64 * 1024;
/** All that one agent may print in a turn; a long turn prints a tenth of it. */
const TOTAL_BYTES = 256 * 1024 ** 2;

/**
 * Lines of an agent's stdout as they arrive, the last one also without a line end. Throws AcpFault for a line
 * that is too long or too costly to read, and for too many bytes.
 */
export async function* linesOf(input: Readable): AsyncGenerator<string> {
  let held = Buffer.alloc(FIRST_BYTES),
    length = 0,
    total = 0;
  const hold = (part: Buffer): void => {
    if (length + part.length > LINE_BYTES)
      throw new AcpFault(`The agent wrote a line of more than ${LINE_BYTES / 1024 ** 2} MiB.`);
    if (length + part.length > held.length) {
      const larger = Buffer.alloc(Math.max(length + part.length, 2 * held.length));
      held.copy(larger, 0, 0, length);
      held = larger;
    }
    length += part.copy(held, length);
  };
  const take = (): string => {
    checkShape(held.subarray(0, length));
    const line = held.toString('utf8', 0, length);
    length = 0;
    if (held.length > FIRST_BYTES) held = Buffer.alloc(FIRST_BYTES);
    return line;
  };
  for await (const part of input as AsyncIterable<Buffer>) {
    total += part.length;
    if (total > TOTAL_BYTES) throw new AcpFault(`The agent wrote more than ${TOTAL_BYTES / 1024 ** 2} MiB.`);
    let from = 0;
    for (let at = part.indexOf(0x0a); at >= 0; at = part.indexOf(0x0a, from)) {
      hold(part.subarray(from, at));
      from = at + 1;
      yield take();
    }
    hold(part.subarray(from));
  }
  if (length > 0) yield take();
}
