// The build is a test, too: it fails where the greeting is wrong.
import { mkdirSync, writeFileSync } from 'node:fs';
import { greeting } from './greeting.js';

const text = greeting('Ada');
if (!/^(Hello|Good morning),? Ada[.!]$/.test(text)) throw new Error(`This is no greeting: ${text}`);
mkdirSync('dist', { recursive: true });
writeFileSync('dist/index.html', `<h1>${text}</h1>\n`);
