/**
 * What the demo shows: steps with their times, and what happens meanwhile. Colour only on a terminal, no
 * line longer than it.
 */
import { stripVTControlCharacters, styleText } from 'node:util';

interface StepResult {
  name: string;
  result: string;
  seconds: number;
}

export interface Output {
  steps: StepResult[];
  /** Runs one step; `work` returns what it came to, in a few words. */
  step(name: string, work: () => Promise<string>): Promise<void>;
  /** Something that happens within a step. */
  detail(who: string, text: string): void;
  title(text: string): void;
  table(): void;
}

const NAME_WIDTH = 10;
const WHO_WIDTH = 10;
const DEFAULT_COLUMNS = 100;

/** Writes to `stream`: stdout, or stderr where stdout is kept for JSON. */
export function createOutput(stream: NodeJS.WriteStream): Output {
  const paint = (format: 'bold' | 'dim' | 'green' | 'red' | 'cyan', text: string) =>
    stream.isTTY ? styleText(format, text, { stream }) : text;
  const columns = Math.max(40, stream.columns ?? DEFAULT_COLUMNS) - 1;
  const write = (line: string) => stream.write(`${line}\n`);
  const fit = (text: string, width: number) => {
    // What comes from a sandbox must not steer the terminal.
    const plain = printable(text);
    return plain.length <= width ? plain : `${plain.slice(0, Math.max(0, width - 3))}...`;
  };
  const steps: StepResult[] = [];
  const row = (mark: string, name: string, result: string, seconds: number) => {
    const time = `${seconds.toFixed(1)} s`.padStart(7);
    const width = columns - 4 - NAME_WIDTH - 1 - 1 - time.length;
    return `${mark}  ${paint('bold', name.padEnd(NAME_WIDTH))} ${fit(result, width).padEnd(Math.min(width, 66))} ${paint('dim', time)}`;
  };

  return {
    steps,
    async step(name, work) {
      const started = performance.now();
      const seconds = () => Math.round((performance.now() - started) / 100) / 10;
      try {
        const result = await work();
        steps.push({ name, result: printable(result), seconds: seconds() });
        write(row(paint('green', 'ok'), name, result, seconds()));
      } catch (error) {
        write(row(paint('red', '!!'), name, 'failed', seconds()));
        throw error;
      }
    },
    detail: (who, text) =>
      write(
        `      ${paint('cyan', who.padEnd(WHO_WIDTH))} ${paint('dim', fit(text, columns - 6 - WHO_WIDTH - 1))}`,
      ),
    title: (text) => write(paint('bold', fit(text, columns))),
    table() {
      const total = steps.reduce((sum, s) => sum + s.seconds, 0);
      write('');
      write(paint('bold', `${'Step'.padEnd(NAME_WIDTH)} ${'Seconds'.padStart(7)}  Result`));
      for (const { name, result, seconds } of steps)
        write(
          `${name.padEnd(NAME_WIDTH)} ${seconds.toFixed(1).padStart(7)}  ${fit(result, columns - NAME_WIDTH - 10)}`,
        );
      write(paint('bold', `${'total'.padEnd(NAME_WIDTH)} ${total.toFixed(1).padStart(7)}`));
    },
  };
}

/** One line without control characters. */
function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cc}/gu, '')
    .trim();
}
