/**
 * The server's settings, given on its command line so that an upgrade of the service changes them without
 * editing a file.
 */

export const SETTINGS: Readonly<Record<string, string>> = {
  // Only the unix socket in a 0700 folder: who may enter it is trusted.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  // Pools of an API and a worker process, LISTEN and lock connections, tests that run in parallel.
  max_connections: '120',
  shared_buffers: '128MB',
  // Answered writes have to survive a power cut.
  fsync: 'on',
  synchronous_commit: 'on',
  // No replica hangs on an embedded server, and a backup needs no WAL: less is written.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '1GB',
  // Short queries on warm pages: compiling, parallel workers and I/O workers cost more than they give, and
  // each is a process to start.
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  io_method: 'sync',
  // A killed service's long query, and the locks it holds, end within a second.
  client_connection_check_interval: '1000',
  // Partitions of the log are locked together.
  max_locks_per_transaction: '128',
  // Refused duplicates and serialization failures are the service's daily business; statements may hold
  // customers' data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};
