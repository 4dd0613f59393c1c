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
find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.a' \) -delete
strip --strip-unneeded "$node"
