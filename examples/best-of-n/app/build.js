// The build is also a test: it fails if the greeting is wrong.
import { mkdirSync, writeFileSync } from 'node:fs';
import { greeting } from './greeting.js';

const text = greeting('Ada');
if (!/^(Hello|Good morning),? Ada[.!]$/.test(text)) throw new Error(`This is not a greeting: ${text}`);
mkdirSync('dist', { recursive: true });
writeFileSync('dist/index.html', `<h1>${text}</h1>\n`);
