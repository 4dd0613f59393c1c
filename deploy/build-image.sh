#!/bin/sh
# In the image's build, with all dependencies there: builds the console, then leaves what a service needs at run time.
set -eu
cd "$(dirname "$0")/.."

# npm 9 removes .bin/node together with the package of another platform that it could not install.
node=$(echo node_modules/node-linux-*/bin/node)
"$node" --input-type=module --eval "
  import { buildConsole } from './scripts/console-build.mjs';
  await buildConsole(process.cwd(), { say: console.error, node: '$node' });"
# Elsewhere a console that does not build is no reason to stop.
test -f packages/console/dist/index.html

npm prune --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
ln -sf "../${node#node_modules/}" node_modules/.bin/node
rm -rf scripts node_modules/node-linux-*/include node_modules/node-linux-*/share
find packages/console -mindepth 1 -maxdepth 1 ! -name dist ! -name package.json -exec rm -r {} +
find packages \( -name '*.test.ts' -o -name '*.fixture.ts' \) -delete
# Of packages nothing loads types, tests and documentation, nor what they have for another runtime, Bare. Licenses stay.
find node_modules -depth -mindepth 2 -type d \
  \( -name test -o -name tests -o -name docs -o -name examples -o -name benchmark -o -name benchmarks \) -exec rm -r {} +
find node_modules -type f ! -iname 'license*' \
  \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.md' -o -name '*.mdx' -o -name '*.bare' -o -name '*.a' \) -delete
strip --strip-unneeded "$node"

# Compiled modules: three tenths of the CPU time of a start. Node looks for them in a folder for its version, V8's flags,
# the kind of CPU and the user, and compiles where there is none. Both users of the images share one.
compiled=$PWD/node_modules/.cache/compiled
NODE_COMPILE_CACHE=$compiled "$node" --expose-gc --input-type=module --eval "
  for (const path of ['server/src/boot.ts', 'server/src/start-runner.ts', 'cli/src/headrace.ts'])
    await import('$PWD/packages/' + path);
  process.exit(0);"
for root in "$compiled"/v*-0; do
  mv "$root" "${root%-0}-10001"
  ln -s "$(basename "${root%-0}")-10001" "$root"
done
chmod -R a+rX "$compiled"
