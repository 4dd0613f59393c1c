import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');
const css = read('code.css') + read('../ui/look.css');

test.each([0, 1])('text of each colour has 4.5 : 1 on every ground of code (theme %i)', (theme) => {
  const grounds = ['paper', 'surface', 'sunk', 'added', 'added-word', 'removed', 'removed-word', 'wait-wash'];
  const colours = ['ink', 'code-keyword', 'code-string', 'code-comment', 'code-number', 'code-type'];
  for (const colour of colours)
    for (const ground of grounds)
      expect([colour, ground, contrast(colourOf(colour, theme), colourOf(ground, theme)) >= 4.5]).toEqual([
        colour,
        ground,
        true,
      ]);
});

function colourOf(name: string, theme: number): string {
  const pair = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(css);
  return pair![theme + 1]!;
}

function contrast(left: string, right: string): number {
  const [dark, light] = [luminance(left), luminance(right)].toSorted((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
