// Each module becomes a function that runs once and returns its exports. No names are
// shared between modules, so nothing needs renaming.

function bindings(imports, names) {
  return imports.map((one) => {
    const source = names.get(one.file);
    if (one.namespace) return `const ${one.namespace}=${source};`;
    const parts = one.names.map(({ imported, local }) => (imported === local ? local : `${imported}:${local}`));
    return `const{${parts.join(',')}}=${source};`;
  }).join('');
}

function checkNames(module, exportsByFile) {
  for (const one of module.imports) {
    for (const { imported } of one.names) {
      if (!exportsByFile.get(one.file).includes(imported)) {
        throw new Error(`${module.file}: ${one.target} has no export ${imported}`);
      }
    }
  }
}

/** One script from modules in dependency order, as `moduleGraph` returns them. */
export function link(modules) {
  const names = new Map(modules.map((module, index) => [module.file, `m${index}`]));
  const exportsByFile = new Map(modules.map((module) => [module.file, module.exports]));
  const parts = modules.map((module) => {
    checkNames(module, exportsByFile);
    const name = names.get(module.file);
    if (module.json) return `const ${name}={default:${module.body}};`;
    return `const ${name}=(()=>{${bindings(module.imports, names)}\n${module.body}\nreturn{${module.exports.join(',')}};})();`;
  });
  return `(()=>{"use strict";\n${parts.join('\n')}\n})();\n`;
}
