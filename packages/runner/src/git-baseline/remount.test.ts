import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSandboxFolder } from '../sandbox/host.ts';
import { makeBench } from '../runner.fixture.ts';
import { mountOverlay, unmountOverlay, type Overlay } from '../workspaces/overlay.ts';
import { remount } from './remount.ts';

const bench = await makeBench();
const canMount = bench !== undefined && (await bench.workspaces.trees.probe());
let counter = 0;

async function overlay(): Promise<{ overlay: Overlay; lower: string; layer: string }> {
  const [lower, layer] = ['lower', 'layer'].map((name) =>
    makeSandboxFolder(bench!.host, `${name}.${++counter}`),
  );
  writeFileSync(join(lower!, 'source'), 's');
  const made = await mountOverlay(bench!.host, `overlay.${++counter}`, [lower!]);
  mkdirSync(join(made.merged, 'dep'));
  writeFileSync(join(made.merged, 'dep/x'), 'x');
  return { overlay: made, lower: lower!, layer: layer! };
}

describe.skipIf(!canMount)('other layers below a tree', () => {
  test('are mounted with what was moved meanwhile', async () => {
    const { overlay: made, lower, layer } = await overlay();
    await remount(made, {
      from: [lower],
      to: [layer, lower],
      change: () => renameSync(join(made.upper, 'dep'), join(layer, 'dep')),
      undo: () => {},
    });
    writeFileSync(join(made.merged, 'dep/x'), 'changed');
    expect([
      readFileSync(join(layer, 'dep/x'), 'utf8'),
      readFileSync(join(made.merged, 'dep/x'), 'utf8'),
      readFileSync(join(made.merged, 'source'), 'utf8'),
    ]).toEqual(['x', 'changed', 's']);
    await unmountOverlay(made);
  });

  test('that cannot be mounted leave it as it was', async () => {
    const { overlay: made, lower, layer } = await overlay();
    const [here, there] = [join(made.upper, 'dep'), join(layer, 'dep')];
    await expect(
      remount(made, {
        from: [lower],
        to: ['/none'],
        change: () => renameSync(here, there),
        undo: () => renameSync(there, here),
      }),
    ).rejects.toThrow('mount');
    expect([
      readFileSync(join(made.merged, 'dep/x'), 'utf8'),
      readFileSync(join(made.merged, 'source'), 'utf8'),
    ]).toEqual(['x', 's']);
    await expect(
      remount(made, {
        from: [lower],
        to: [lower],
        change: () => {
          throw new Error('no move');
        },
        undo: () => {
          throw new Error('nothing to undo');
        },
      }),
    ).rejects.toThrow('no move');
    expect(readFileSync(join(made.merged, 'dep/x'), 'utf8')).toBe('x');
    await unmountOverlay(made);
  });

  test('where nothing mounts any more, there is no empty folder to be taken for the tree', async () => {
    const { overlay: made } = await overlay();
    await expect(
      remount(made, { from: ['/none'], to: ['/none'], change: () => {}, undo: () => {} }),
    ).rejects.toThrow('mount');
    expect(existsSync(made.merged)).toBe(false);
  });
});
