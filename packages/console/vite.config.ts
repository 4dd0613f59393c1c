/** `vite build` writes `dist/`; scripts/setup.mjs calls it when a source has changed. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

/** The service replaces it in each answer with that answer's nonce. */
const NONCE = 'HEADRACE_NONCE';
/** What the service serves precompressed. */
const COMPRESSED = /\.(js|css|svg)$/;

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [english(), react(), tailwindcss(), compressed()],
  html: { cspNonce: NONCE },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    manifest: true,
    sourcemap: false,
    // Inlined, it would be a `data:` address, which the policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // By itself, each set of pages that share a module would be a file of its own, far too many requests.
          groups: [
            { name: 'shell', tags: ['$initial'], priority: 4 },
            // What rows of the inbox and of other lists share, so that the first page loads nothing of forms and dialogs.
            {
              name: 'rows',
              test: /code\/(plain|hidden)|pull-requests\/(address|standing|remedy)|api\/work-queries/,
              priority: 3.5,
            },
            {
              name: 'parts',
              test: /src\/(api\/(?!(projects|repositories|hooks|team|running)-)|ui\/(?!fields|choices|shown-once|combo))/,
              priority: 3,
            },
            // Few pages have a field with suggestions, which needs much.
            { name: 'fields', test: /^(?!.*combo).*(src\/ui\/|react-aria)/i, priority: 2 },
            { name: 'code', test: /src\/code\/(?!highlight\.worker)|virtual-core/, priority: 1 },
          ],
        },
      },
    },
  },
});

/** React Aria brings its words in 34 languages; the console is in English, to which it falls back. */
function english(): Plugin {
  return {
    name: 'headrace-english',
    enforce: 'pre',
    load: {
      filter: { id: /\/intl\/[\w-]+\/(?!en-US)[a-z]{2}-[A-Z]{2}\.m?js$/ },
      handler: () => 'export default undefined;',
    },
  };
}

/** Writes `.br` and `.gz` beside the assets, from what was written: until then other plugins change it. */
function compressed(): Plugin {
  return {
    name: 'headrace-compressed',
    apply: 'build',
    async writeBundle({ dir }, bundle) {
      const names = Object.keys(bundle).filter((name) => COMPRESSED.test(name));
      await Promise.all(
        names.map(async (name) => {
          const path = join(dir!, name);
          const bytes = await readFile(path);
          const [brotli, gzipped] = await Promise.all([
            toBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
            toGzip(bytes, { level: 9 }),
          ]);
          await Promise.all([writeFile(`${path}.br`, brotli), writeFile(`${path}.gz`, gzipped)]);
        }),
      );
    },
  };
}
