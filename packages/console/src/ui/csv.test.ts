import { expect, test } from 'vitest';
import { csvOf } from './csv.ts';

test('cells are quoted where they have to be, and no text is a formula', () => {
  expect(
    csvOf(
      ['name', 'cost'],
      [
        ['a,b', 1],
        ['say "x"\n', -2],
        ['=1+1', null],
        ['-x', 0],
      ],
    ),
  ).toBe('name,cost\r\n"a,b",1\r\n"say ""x""\n",-2\r\n\'=1+1,\r\n\'-x,0\r\n');
});
