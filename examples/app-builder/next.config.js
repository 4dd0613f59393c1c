/** The database is WebAssembly with its own files: it is loaded from node_modules, not bundled. */
export default { serverExternalPackages: ['@electric-sql/pglite'], devIndicators: false };
