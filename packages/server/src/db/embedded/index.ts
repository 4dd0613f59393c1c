export type { EmbeddedPostgres, EmbeddedPostgresOptions } from './embedded-postgres.ts';
export { startEmbeddedPostgres } from './embedded-postgres.ts';
export { lockDataDir } from './lock.ts';
