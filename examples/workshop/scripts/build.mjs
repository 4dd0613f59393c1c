import path from 'node:path';
import { build } from './bundle/build.mjs';

const root = path.resolve(import.meta.dirname, '..');
const report = await build(root, path.join(root, 'dist'));
for (const [name, bytes] of Object.entries(report.files)) console.log(`${String(bytes).padStart(8)}  ${name}`);
console.log(`${report.modules} modules, ${report.stylesheets} stylesheets`);
