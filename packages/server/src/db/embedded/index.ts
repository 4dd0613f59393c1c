export type { EmbeddedPostgres, EmbeddedPostgresOptions } from './embedded-postgres.ts';
export { findBinaries } from './binaries.ts';
export { embeddedConnection, startEmbeddedPostgres } from './embedded-postgres.ts';
export { lockDataDir } from './lock.ts';
