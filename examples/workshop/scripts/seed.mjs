import path from 'node:path';
import { openApp } from '../server/app.js';
import { readConfig } from '../server/config.js';

// Fills the data file before the first start, which then has nothing to wait for.
const root = path.resolve(import.meta.dirname, '..');
const config = readConfig(process.env, root);
const app = await openApp(config);
await app.settled();
console.log(`the demonstration library is in ${path.relative(root, config.dataFile)}`);
