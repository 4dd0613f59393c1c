/**
 * Runs in Node in a sandbox, at the top of a workspace. Exits 0 when `node_modules` holds every package that
 * the lock file names, nothing else, and nothing changed since npm wrote its own record of it. npm writes
 * that record last, but an interrupted install leaves the previous one.
 */
export const COMPARE_NPM = `
const fs = require('fs');
const packages = (file) => JSON.parse(fs.readFileSync(file, 'utf8')).packages;
const lock = packages('package-lock.json'), found = packages('node_modules/.package-lock.json');
const at = fs.lstatSync('node_modules/.package-lock.json').mtimeMs;
const top = 'node_modules/';
const check = (is) => { if (!is) process.exit(1); };
for (const [path, wanted] of Object.entries(lock)) {
  if (!path.startsWith(top)) { check(!path.includes(top)); continue; }
  const has = found[path];
  if (!has && (wanted.optional || wanted.devOptional)) continue;
  check(has && ['version', 'integrity', 'resolved', 'link'].every((name) => has[name] === wanted[name]));
}
for (const [path, { link }] of Object.entries(found)) {
  if (!path.startsWith(top)) continue;
  check(lock[path]);
  const is = fs.lstatSync(path);
  check(link ? is.isSymbolicLink() : is.isDirectory() && is.mtimeMs <= at);
}
const visible = (path) => fs.readdirSync(path).filter((name) => !name.startsWith('.'));
const named = (path) => visible(path).map((name) => path + '/' + name);
const scoped = (path) => (path.startsWith(top + '@') ? named(path) : [path]);
for (const path of named('node_modules').flatMap(scoped)) check(found[path]);
`;
