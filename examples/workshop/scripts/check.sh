#!/bin/sh
# What must hold before a change is handed on: tests, a build that is the same twice.
set -eu
cd "$(dirname "$0")/.."

node --test
node scripts/build.mjs > /dev/null
first=$(cat dist/build.json)
node scripts/build.mjs > /dev/null
if [ "$first" != "$(cat dist/build.json)" ]; then
  echo 'the build differs from one run to the next' >&2
  exit 1
fi
echo 'all good'
