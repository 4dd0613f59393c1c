/** What the figures were taken on. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';

export interface Machine {
  processor: string;
  cores: number;
  memoryGiB: number;
  kernel: string;
  /** Of the folder that is measured in. */
  fileSystem: string;
  node: string;
  git: string;
}

export function machineOf(folder: string): Machine {
  const said = (command: string, ...args: string[]) =>
    execFileSync(command, args, { encoding: 'utf8', timeout: 10_000 }).trim();
  const [processor] = cpus();
  return {
    processor: processor?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release().split('-')[0]!,
    fileSystem: said('stat', '-f', '-c', '%T', folder),
    node: process.version,
    git: said('git', '--version').replace('git version ', ''),
  };
}

/** Processes that ran or waited to, on average over the last minute. */
export const loadNow = () => Math.round(loadavg()[0]! * 10) / 10;
