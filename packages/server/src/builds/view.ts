import { isEnded } from './state.ts';
import type { Build } from './store.ts';

/** A build as the API shows it: until its sandbox is gone the row knows more than its readers. */
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
    setup: b.setup,
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
