import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const AGENT_SOURCES = fileURLToPath(new URL('../../../agent/src/', import.meta.url));
const PROGRAMS = ['scripted', 'patch-tree', 'relay'];

/** Where the guest's programs lie inside a sandbox, each as `<name>.cjs`. */
export const GUEST = '/opt/headrace/agent';

/**
 * Writes the programs that run inside sandboxes (packages/agent) as one plain CommonJS file each, once per runner. Measured per start:
 * 30 ms so, 48 ms as ES modules, 80 ms with types to strip.
 */
export function installGuest(folder: string): void {
  mkdirSync(folder);
  for (const name of PROGRAMS) writeFileSync(join(folder, `${name}.cjs`), bundle(name), { mode: 0o644 });
}

/** The program and what it imports, in one file. Knows just the module syntax that packages/agent uses; its tests run the result. */
export function bundle(program: string): string {
  const modules = new Map<string, string>();
  const add = (name: string): void => {
    if (modules.has(name)) return;
    modules.set(name, '');
    const code = stripTypeScriptTypes(readFileSync(join(AGENT_SOURCES, `${name}.ts`), 'utf8'));
    const exported = [...code.matchAll(/^export (?:async )?(?:function\*?|class|const) (\w+)/gm)].map((found) => found[1]);
    const body = code
      .replace(/^export (?=async |function|class|const)/gm, '')
      .replace(/^import \{([^}]*)\} from '\.\/([\w-]+)\.ts';$/gm, (_, names: string, from: string) => { add(from); return `const {${names}} = modules['${from}'];`; })
      .replace(/^import \{([^}]*)\} from '(node:[\w/]+)';$/gm, "const {$1} = require('$2');");
    modules.delete(name); // re-inserted below what it imports
    modules.set(name, `modules['${name}'] = (() => {${body}\nreturn { ${exported.join(', ')} };\n})();\n`);
  };
  add(program);
  return `'use strict';\nconst modules = {};\n${[...modules.values()].join('')}`;
}
