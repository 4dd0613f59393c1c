import { describe, expect, test } from 'vitest';
import { OutputCollector } from './collect-output.ts';

const STREAM_BYTES = 1024 * 1024;

describe('OutputCollector', () => {
  test('keeps both streams apart, in order', () => {
    const output = new OutputCollector();
    expect([output.add('stdout', 'a'), output.add('stderr', 'x'), output.add('stdout', 'b')]).toEqual([
      'a',
      'x',
      'b',
    ]);
    expect(output.output()).toEqual({ stdout: 'ab', stderr: 'x', truncated: false });
  });

  test('cuts each stream at its own limit, and says so', () => {
    const output = new OutputCollector();
    output.add('stdout', 'x'.repeat(STREAM_BYTES));
    expect(output.output().truncated).toBe(false);
    expect(output.add('stdout', 'y')).toBe('');
    expect(output.add('stderr', 'still heard')).toBe('still heard');
    const { stdout, stderr, truncated } = output.output();
    expect([stdout.length, stderr, truncated]).toEqual([STREAM_BYTES, 'still heard', true]);
  });

  test.each(['ä', '€', '😀'])('never keeps half of %s', (character) => {
    for (let before = 0; before < 4; before++) {
      const output = new OutputCollector();
      output.add('stdout', 'x'.repeat(STREAM_BYTES - before) + character);
      const { stdout } = output.output();
      expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(STREAM_BYTES);
      expect(stdout).not.toContain('\u{fffd}');
      // Text after a cut would be in the wrong place.
      if (output.output().truncated) expect(output.add('stdout', 'z')).toBe('');
    }
  });
});
