/**
 * Keys of the service's own session and transaction locks, the same in every version. One each: who holds
 * one for long (the publisher) would stop all who share it.
 */
export const MIGRATION_LOCK = 4_400_001;
export const PUBLISHER_LOCK = 4_400_002;
export const FIRST_START_LOCK = 4_400_003;
/** Shared by each round that deletes objects; a backup holds it alone while it copies. */
export const DELETION_LOCK = 4_400_004;
/** First of two numbers; the second names a secret key. Shared by each process that seals with that key. */
export const SECRET_KEY_LOCK = 4_400_005;
/** Held by the process that removes the contents of what was deleted. */
export const CLEANUP_LOCK = 4_400_006;
/** Held by the process that has the installations follow the configuration file. */
export const INSTALLATIONS_LOCK = 4_400_007;
/** Held by the process that sends webhooks. */
export const WEBHOOKS_LOCK = 4_400_008;
/** Held for a moment by a worker that starts, while it looks for others. */
export const WORKER_START_LOCK = 4_400_009;
