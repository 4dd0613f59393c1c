import { DENIED, INSPECTED, type Architecture } from '../../../packages/runner/src/sandbox/syscalls.ts';

/**
 * System calls that the probes make in addition to those of the sandboxes' own table: name, x64 number, arm64
 * number.
 */
const OTHERS: readonly (readonly [string, number, number])[] = [
  ['adjtimex', 159, 171],
  ['capget', 125, 90],
  ['capset', 126, 91],
  ['tgkill', 234, 131],
  ['rt_sigqueueinfo', 129, 138],
  ['setpriority', 141, 140],
  ['sched_setscheduler', 144, 119],
  ['sched_setaffinity', 203, 122],
  ['prlimit64', 302, 261],
  ['ioprio_set', 251, 30],
  ['pidfd_send_signal', 424, 424],
  ['pidfd_open', 434, 434],
  ['shmget', 29, 194],
  ['shmat', 30, 196],
  ['shmctl', 31, 195],
  ['msgget', 68, 186],
  ['msgrcv', 70, 188],
  ['msgsnd', 69, 189],
  ['msgctl', 71, 187],
  ['setxattrat', 463, 463],
  ['open_tree_attr', 467, 467],
  ['file_setattr', 469, 469],
  ['syncfs', 306, 267],
  ['fchownat', 260, 54],
  ['prctl', 157, 167],
  ['mlockall', 151, 230],
  ['memfd_create', 319, 279],
  ['inotify_init1', 294, 26],
  ['timer_create', 222, 107],
  ['fanotify_mark', 301, 263],
  ['setuid', 105, 146],
  ['setgroups', 116, 159],
  ['setresuid', 117, 147],
];

/** Name → number on this architecture. Throws RangeError where it has no table. */
export function callNumbers(architecture: string): Record<string, number> {
  if (!(architecture in INSPECTED)) throw new RangeError(`no system call table for ${architecture}`);
  const column = architecture === 'x64' ? 1 : 2;
  const { audit: _, ...inspected } = INSPECTED[architecture as Architecture];
  return {
    ...inspected,
    ...Object.fromEntries(
      [...DENIED, ...OTHERS].flatMap((row) => (row[column] === null ? [] : [[row[0], row[column]]])),
    ),
  };
}
