import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { LayerFiles } from './layer-files.ts';
import { statOf } from './paths.ts';

/**
 * Copies a layer (its argument) under the files in the working folder, which win at, above and below their
 * paths.
 */
const layer = process.argv[2]!;
const raw = (path: string): Buffer => Buffer.from(path, 'latin1');

const whole: string[] = [];
const files = new LayerFiles(layer);
for (const bytes of readdirSync(layer, 'buffer')) {
  const name = bytes.toString('latin1');
  const there = statOf(raw(name));
  if (!there) whole.push(name);
  else if (there.isDirectory() && statOf(raw(`${layer}/${name}`))!.isDirectory()) files.copyBelow(name);
}
// cp takes half the time of copies from here: 0.4 s of processor time for 30,000 files.
const { status, stderr } = spawnSync('xargs', ['-0', '-r', 'cp', '-a', '-t', '.', '--'], {
  input: raw(whole.map((name) => `${layer}/${name}\0`).join('')),
});
if (status !== 0) {
  process.stderr.write(stderr);
  process.exit(1);
}
