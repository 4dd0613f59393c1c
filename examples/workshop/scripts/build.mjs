import path from 'node:path';
import { build, sign } from './bundle/build.mjs';

const root = path.resolve(import.meta.dirname, '..');
const output = path.join(root, 'dist');
const report = await build(root, output);
for (const [name, bytes] of Object.entries(report.files)) console.log(`${String(bytes).padStart(8)}  ${name}`);
console.log(`${report.modules} modules, ${report.stylesheets} stylesheets`);
if (process.env.RELEASE_KEY) {
  await sign(output, process.env.RELEASE_KEY);
  console.log('build.json is signed: build.sig');
}
