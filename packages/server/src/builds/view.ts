import type { BuildRow } from '../db/schema.ts';

/** A build's row without its manifest, which has up to 10,000 files. */
export type Build = Omit<BuildRow, 'manifest'>;
export const BUILD_COLUMNS = [
  'org_id',
  'id',
  'project_id',
  'thread_id',
  'source_id',
  'command',
  'output_directory',
  'timeout_seconds',
  'status',
  'exit_code',
  'error_code',
  'error_message',
  'artifact_key',
  'artifact_sha256',
  'artifact_byte_size',
  'file_count',
  'output_byte_size',
  'logs_byte_size',
  'logs_truncated',
  'journal_offset',
  'cancel_requested_at',
  'outcome',
  'runner_id',
  'created_by',
  'created_at',
  'started_at',
  'finished_at',
] as const;

export const isEnded = (b: Build) => b.status === 'ready' || b.status === 'failed';

/**
 * What a build came to is told when its status is: until its sandbox is gone the row knows more than its
 * readers.
 */
export function buildView(b: Build) {
  const [ended, ready] = [isEnded(b), b.status === 'ready'];
  return {
    id: b.id,
    projectId: b.project_id,
    threadId: b.thread_id,
    sourceId: b.source_id,
    command: b.command,
    outputDirectory: b.output_directory,
    timeoutSeconds: b.timeout_seconds,
    status: b.status,
    exitCode: ended ? b.exit_code : null,
    error:
      ended && b.error_code !== null
        ? { code: b.error_code, message: b.error_message ?? b.error_code }
        : null,
    artifactSha256: ready ? b.artifact_sha256 : null,
    artifactByteSize: ready ? b.artifact_byte_size : null,
    fileCount: ready ? b.file_count : null,
    createdAt: b.created_at.toISOString(),
    startedAt: b.started_at?.toISOString() ?? null,
    finishedAt: b.finished_at?.toISOString() ?? null,
  };
}

/** The data of `platform.build.<status>`. */
export const buildEventData = (b: Build) => ({
  id: b.id,
  status: b.status,
  sourceId: b.source_id,
  ...(b.status === 'ready' ? { artifactSha256: b.artifact_sha256 } : {}),
});
