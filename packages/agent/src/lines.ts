import { StringDecoder } from 'node:string_decoder';

/**
 * Lines that end with "\n" and nothing else. node:readline also ends lines at U+2028 and U+2029, which are
 * unescaped in JSON, so that one such character in a command's output broke its journal.
 */
export async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let line: string[] = [];
  for await (const part of input) {
    const [rest, ...begun] = decoder.write(part).split('\n');
    line.push(rest!);
    for (const next of begun) {
      yield line.join('');
      line = [next];
    }
  }
  const last = line.join('') + decoder.end();
  if (last !== '') yield last;
}
