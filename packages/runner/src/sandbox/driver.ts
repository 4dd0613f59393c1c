import type { Readable, Writable } from 'node:stream';
import type { RunnerStatus, Runtime, SandboxLimits } from '../protocol.ts';

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
  /** The system inside; undefined: the driver's own. */
  runtime?: Runtime | undefined;
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
  /** Resolves once its first process exists, or it is known that none will. */
  begun: Promise<unknown>;
  /** The pid of the sandbox's init on this host; undefined until it is known, and where it cannot be seen. */
  initPid(): number | undefined;
  /**
   * Resolves once no process of the sandbox is left. Rejects `not_confirmed` 500 when some remain, and
   * `no_sandbox` 503 when the engine did not start it, or did not report its end: then nothing of it is left
   * either.
   */
  exited: Promise<SandboxExit>;
  /**
   * Holds all processes still; resolves once none runs. Throws `not_paused` 503 where that cannot be had: then
   * they go on.
   */
  pause(): Promise<void>;
  /** Lets them go on. Idempotent; never rejects. */
  resume(): Promise<void>;
  /** Kills the whole tree. Resolves like `exited`, and checks once more where that had failed. Idempotent. */
  kill(): Promise<SandboxExit>;
}

/**
 * What makes sandboxes. All drivers give the same view from inside: new namespaces, nothing in the network
 * but lo, a read-only system, the binds, a private /tmp and HOME of bounded size, an environment of BASE_ENV
 * and the spec's, a process without rights and without a way to gain any. The probe and the suite in
 * checks/drivers/conformance hold each driver to it.
 */
export interface Driver {
  readonly name: 'bubblewrap' | 'container';
  /** What bounds memory and processes here, with warnings for a person. */
  readonly limits: RunnerStatus['limits'];
  /** Whether its sandboxes see folders that the runner mounts. */
  readonly seesMounts: boolean;
  /**
   * The socket of the engine in which its sandboxes outlive a kill of this process; null: they die with it.
   */
  readonly engine: string | null;
  /**
   * What this machine lacks for it, each with its remedy; checked again each time. Empty: it can be tried.
   */
  missing(): Promise<string[]>;
  /** Whether it can give a sandbox this runtime now. */
  offers(runtime: Runtime): Promise<boolean>;
  /** Starts a sandbox. Throws `no_sandbox` 503, `invalid_request` 400; `exited` reports later failures. */
  start(spec: SandboxSpec): Sandbox;
  /** Advice for a person about a sandbox that failed with this stderr before it ran anything. */
  remedy(stderr: string): string;
  /**
   * Ends what it keeps ready and removes what it made on this machine. Its sandboxes must be gone. Throws
   * when one of an engine's is not.
   */
  close(): Promise<void>;
}

export const WORKSPACE = '/workspace';
export const HOME = '/home/agent';
/** The runner's own Node, which runs the guest's programs. */
export const NODE = '/opt/headrace/bin/node';
export const PATH = '/opt/headrace/bin:/usr/local/bin:/usr/bin:/bin';
/** The folders of PATH in a runtime, which brings its own Node or none. */
export const RUNTIME_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
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
/** The private in-memory folders of every sandbox: their sizes in bytes, and modes. */
export const MEMORY_FOLDERS = [
  { path: '/dev/shm', bytes: 256 * MEBI, mode: '1777' },
  { path: '/tmp', bytes: 1024 * MEBI, mode: '1777' },
  { path: HOME, bytes: 1024 * MEBI, mode: '0755' },
  { path: '/var/tmp', bytes: 256 * MEBI, mode: '1777' },
] as const;
