import type { Readable, Writable } from 'node:stream';
import type { RunnerStatus, SandboxLimits } from '../protocol.ts';

/** A folder or file of the host that a sandbox sees. */
export interface Bind {
  host: string;
  inside: string;
  readOnly: boolean;
}

export interface SandboxSpec {
  command: string[];
  binds: Bind[];
  env?: Record<string, string>;
  limits: SandboxLimits;
}

export interface SandboxExit {
  code: number | null;
  signal: string | null;
  oom: boolean;
}

/** A started sandbox. Its streams end by themselves once the tree is gone. */
export interface Sandbox {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /**
   * The init of the sandbox as this host numbers it; undefined until it is known, and where it cannot be
   * seen.
   */
  initPid(): number | undefined;
  /**
   * Resolves once no process of the sandbox is left. Rejects `not_confirmed` 500 when some would not go,
   * and `no_sandbox` 503 where the engine did not start it, or did not tell its end: then nothing of it is
   * left either.
   */
  exited: Promise<SandboxExit>;
  /** Kills the whole tree; resolves as `exited`, and looks once more where that had failed. Idempotent. */
  kill(): Promise<SandboxExit>;
}

/**
 * What makes sandboxes. All drivers give the same view from inside: own namespaces, nothing in the network
 * but lo, a read-only system, the binds, /tmp and HOME of its own with a bounded size, an environment of
 * BASE_ENV and the spec's, a process that is nobody and gains nothing. The probe and the suite in
 * conformance.ts hold each driver to it.
 */
export interface Driver {
  readonly name: 'bubblewrap' | 'container';
  /** What bounds memory and processes here, with warnings for a person. */
  readonly limits: RunnerStatus['limits'];
  /** Whether folders that the runner mounts itself are seen by the sandboxes that it starts. */
  readonly seesMounts: boolean;
  /**
   * The socket of the engine in which its sandboxes live on when this process is killed; null: they die
   * with it.
   */
  readonly engine: string | null;
  /**
   * What it lacks on this machine, each with its remedy; looked at anew each time. Empty: it can be tried.
   */
  missing(): Promise<string[]>;
  /**
   * Starts a sandbox. Throws `no_sandbox` 503, `invalid_request` 400; what goes wrong later, its `exited`
   * tells.
   */
  start(spec: SandboxSpec): Sandbox;
  /** What a person does about a sandbox that ended with this on its stderr before it ran anything. */
  remedy(stderr: string): string;
  /**
   * Ends what it keeps ready and removes what it made on this machine. Its sandboxes must be gone. Throws
   * where one of an engine's is not.
   */
  close(): Promise<void>;
}

export const WORKSPACE = '/workspace';
export const HOME = '/home/agent';
export const PATH = '/opt/headrace/bin:/usr/local/bin:/usr/bin:/bin';
export const BASE_ENV: Record<string, string> = {
  PATH,
  HOME,
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/sh',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  TMPDIR: '/tmp',
};

const MEBI = 1024 ** 2;
export const DEFAULT_LIMITS: SandboxLimits = {
  memoryBytes: 4 * 1024 * MEBI,
  processes: 512,
  diskBytes: 2 * 1024 * MEBI,
};
/** Open files of one process; the host's own limit where that is lower. */
export const OPEN_FILES = 65_536;
/** The folders in memory that every sandbox has for itself: their sizes in bytes, and modes. */
export const MEMORY_FOLDERS = [
  { path: '/dev/shm', bytes: 256 * MEBI, mode: '1777' },
  { path: '/tmp', bytes: 1024 * MEBI, mode: '1777' },
  { path: HOME, bytes: 1024 * MEBI, mode: '0755' },
  { path: '/var/tmp', bytes: 256 * MEBI, mode: '1777' },
] as const;
