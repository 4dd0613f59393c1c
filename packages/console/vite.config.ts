/** `vite build` writes `dist/`; scripts/setup.mjs calls it when a source has changed. */
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
  plugins: [react(), tailwindcss(), compressed()],
  html: { cspNonce: NONCE },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    manifest: true,
    sourcemap: false,
    // Inlined, it would be a `data:` address, which the policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});

/** Writes `.br` and `.gz` beside the assets. */
function compressed(): Plugin {
  return {
    name: 'headrace-compressed',
    apply: 'build',
    async generateBundle(_options, bundle) {
      await Promise.all(
        Object.values(bundle).map(async (file) => {
          if (!COMPRESSED.test(file.fileName)) return;
          const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source);
          const [brotli, gzipped] = await Promise.all([
            toBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
            toGzip(bytes, { level: 9 }),
          ]);
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source: brotli });
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzipped });
        }),
      );
    },
  };
}
