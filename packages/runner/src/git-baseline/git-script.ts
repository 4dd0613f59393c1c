import { DEPENDENCY_FOLDERS, RESERVED } from '../capture/rules.ts';

export const EXIT = { isThere: 64, noGit: 65 };

/** Where git finds its `.git`: in the workspace, or in a layer under construction. */
export const LAYER = '/run/headrace-git';

/** What no capture takes is not a change of the source either. */
const EXCLUDED = [...RESERVED, ...DEPENDENCY_FOLDERS]
  .filter((name) => name !== '.git')
  .map((name) => `${name}/`)
  .join('\\n');

/**
 * Files have the time 0 and new inodes after each restore: only sizes and times are compared. A repository
 * that lives as long as its workspace needs no cleanup and no fsync.
 */
const CONFIG = [
  '[core]',
  'repositoryformatversion = 0',
  'filemode = true',
  'bare = false',
  'logallrefupdates = true',
  'checkStat = minimal',
  'trustctime = false',
  'fsync = none',
  '[gc]',
  'auto = 0',
  '[maintenance]',
  'auto = false',
].join('\\n');

const prune = [...RESERVED].map((name) => `-iname '${name}'`).join(' -o ');

const BEGIN = `set -e
command -v git >/dev/null || exit ${EXIT.noGit}
export GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=source GIT_AUTHOR_EMAIL=source@localhost
export GIT_COMMITTER_NAME=source GIT_COMMITTER_EMAIL=source@localhost
fast() { git -c core.compression=1 -c core.bigFileThreshold=1 "$@"; }`;

/** Attributes in the tree change no bytes. */
const INIT = `git init -q --template= -b main . >/dev/null
printf '${CONFIG}\\n' >"$GIT_DIR/config"
mkdir "$GIT_DIR/info"
printf '${EXCLUDED}\\n' >"$GIT_DIR/info/exclude"
printf '* -text -ident -filter !working-tree-encoding\\n' >"$GIT_DIR/info/attributes"`;

/**
 * Excludes what only the workspace's layer ($2, if it has one) has, by the topmost folders. The index holds the
 * source's paths. A name with a line break cannot be excluded: its lines would be patterns of their own.
 */
const EXCLUDE = `if [ -n "$2" ]; then
mkdir -p "$GIT_DIR/info"
(export GIT_DIR="$PWD/$GIT_DIR"; cd "$2" && GIT_WORK_TREE=. git ls-files -o -z --directory --exclude-standard) |
sed -z '/\\n/d; s/[*?[\\\\]/\\\\&/g; s/ $/\\\\ /; s,^,/,' | tr '\\0' '\\n' >>"$GIT_DIR/info/exclude"
fi`;

/**
 * $1: `all` for a tree that holds only its source, or `known`: stdin names the source's paths, those that are
 * gone included, and every other file that is not ignored is new. `update-index` also takes ignored files,
 * and files over the threshold go straight into one pack: a threshold of one byte makes a tenth of the files
 * in the same time (10,000 files of 54 MB: 1.5 s of processor time, 8 MB).
 */
const COMMIT = `{ git ls-files -z
if [ "$1" = all ]; then find . -mindepth 1 \\( ${prune} \\) -prune -o -type f -print0; else cat; fi
} | fast update-index --add --remove -z --stdin
${EXCLUDE}
[ "$1" = all ] || git ls-files -o -z --exclude-standard | fast update-index --add -z --stdin
commit=$(git commit-tree -m Source "$(fast write-tree)")
git update-ref -m "commit (initial): Source" HEAD "$commit"`;

/** Makes the repository in the workspace. */
export const MAKE = `if [ -e .git ] || [ -L .git ]; then exit ${EXIT.isThere}; fi
export GIT_DIR=.git GIT_WORK_TREE=.
${BEGIN}
${INIT}
${COMMIT}`;

/** Makes the layer of a source tree. Prints its size in KiB. */
export const MAKE_LAYER = `export GIT_DIR=${LAYER}/.git GIT_WORK_TREE=.
${BEGIN}
${INIT}
${COMMIT}
du -sk ${LAYER}`;

/** Updates the existing repository to the workspace's source: only what differs is read. */
export const RENEW = `export GIT_DIR=.git GIT_WORK_TREE=.
${BEGIN}
${COMMIT}`;

/** Only excludes what the layer has, where the agent has left the repository. */
export const HIDE = `[ -d .git ] && [ ! -L .git ] || exit 0
export GIT_DIR=.git GIT_WORK_TREE=.
${BEGIN}
${EXCLUDE}`;
