import { createHash, createHmac } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { moduleGraph } from './graph.mjs';
import { link } from './link.mjs';
import { collectStyles, minifyCss } from './styles.mjs';

function hashed(name, extension, content) {
  return `${name}.${createHash('sha256').update(content).digest('hex').slice(0, 10)}.${extension}`;
}

async function readIcons(folder) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.svg')).sort();
  return Promise.all(names.map(async (name) => [`icons/${name}`, await readFile(path.join(folder, name))]));
}

/** Everything that belongs into the output folder, as a map from path to content. */
export async function bundle(root) {
  const web = path.join(root, 'web');
  const modules = await moduleGraph(path.join(web, 'main.js'));
  const script = link(modules);
  const sheets = await collectStyles(path.join(web, 'styles/main.css'));
  const css = `${minifyCss(sheets.join('\n'))}\n`;
  const names = { js: hashed('app', 'js', script), css: hashed('app', 'css', css) };
  const page = await readFile(path.join(web, 'index.html'), 'utf8');
  const files = new Map([
    [names.js, script],
    [names.css, css],
    ['favicon.png', await readFile(path.join(web, 'favicon.png'))],
    ...(await readIcons(path.join(web, 'icons'))),
    ['index.html', page.replace('{{css}}', `./${names.css}`).replace('{{js}}', `./${names.js}`)],
  ]);
  return { files, modules: modules.length, stylesheets: sheets.length };
}

/**
 * Builds into `output`, which is emptied first. The report says sizes in bytes and is
 * written as `build.json`; it carries no time, so that equal sources give equal bytes.
 */
export async function build(root, output) {
  const { files, modules, stylesheets } = await bundle(root);
  await rm(output, { recursive: true, force: true });
  for (const [name, content] of files) {
    const file = path.join(output, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  const sizes = [...files].map(([name, content]) => [name, Buffer.byteLength(content)]).sort(([a], [b]) => (a < b ? -1 : 1));
  const report = { modules, stylesheets, files: Object.fromEntries(sizes) };
  await writeFile(path.join(output, 'build.json'), `${JSON.stringify(report, null, 2)}\n`);
  return report;
}

/** Writes `build.sig`: the HMAC of `build.json` with the key of whoever releases, in hexadecimal. */
export async function sign(output, key) {
  const report = await readFile(path.join(output, 'build.json'));
  await writeFile(path.join(output, 'build.sig'), `${createHmac('sha256', key).update(report).digest('hex')}\n`);
}
