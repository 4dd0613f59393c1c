import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { takeApart } from './module.mjs';

function asJson(source) {
  return { imports: [], exports: ['default'], body: JSON.stringify(JSON.parse(source)), json: true };
}

/**
 * Every module that `entry` needs, each after those that it imports. Import order decides
 * the order, never the file system, so the same sources give the same list everywhere.
 */
export async function moduleGraph(entry) {
  const order = [];
  const state = new Map();

  async function visit(file, chain) {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      // A module is a function's result here: half-finished ones cannot be shared.
      throw new Error(`import cycle: ${[...chain, file].map((one) => path.basename(one)).join(' → ')}`);
    }
    state.set(file, 'open');
    const source = await readFile(file, 'utf8');
    const module = file.endsWith('.json') ? asJson(source) : takeApart(file, source);
    for (const one of module.imports) {
      one.file = path.resolve(path.dirname(file), one.target);
      await visit(one.file, [...chain, file]);
    }
    state.set(file, 'done');
    order.push({ file, ...module });
  }

  await visit(entry, []);
  return order;
}
