/** `@headrace/client/files`: the rules for the files of a source, and their tar, without anything of Node. */
export { BundleFaults, MAX_BYTES, MAX_FILE_BYTES, MAX_FILES, RULES } from './bundle-rules.ts';
export { parseEnvFile } from './env-file.ts';
export { DEPENDENCY_FOLDERS, IGNORE_FILES, IgnoreRules } from './ignore.ts';
export type { Verdict } from './ignore.ts';
export { isReserved } from './paths.ts';
export { END, headersOf, padding } from './tar.ts';
export type { TarFile } from './tar.ts';
