import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// Read at each request: the preview shows the draft as it is.
createServer((_, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(readFileSync('index.html'))).listen(3000, '127.0.0.1');
