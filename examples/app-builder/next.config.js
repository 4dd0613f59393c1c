/** The database is WebAssembly with files of its own: it is loaded from node_modules, not bundled. */
export default { serverExternalPackages: ['@electric-sql/pglite'], devIndicators: false };
