import { expect, test } from 'vitest';
import { skillLines } from './skill-lines.ts';

test('a line for each skill', () => {
  expect(skillLines([{ name: 'a', description: 'Does\n  this.' }])).toEqual(['- a: Does this.']);
  expect(skillLines([])).toEqual([]);
});

test('many long descriptions are cut alike, and no character in two', () => {
  const skills = Array.from({ length: 50 }, (_, i) => ({
    name: `s${i}`,
    description: `${'x'.repeat(i % 2)}${'🔑'.repeat(1_000)}`,
  }));
  const lines = skillLines(skills);
  expect(lines.join('').length).toBeLessThan(33_000);
  expect(lines.every((line) => line.isWellFormed() && line.endsWith('🔑…'))).toBe(true);
});
