import { chooseRunner } from './choose.ts';
import type { Candidate } from './choose.ts';

export const candidate = (name: string, given: Partial<Candidate> = {}): Candidate => ({
  boot_id: name,
  capacity: 10,
  reserved: 0,
  used: 0,
  keeps: false,
  ...given,
});

export interface Placement {
  runners: number;
  capacity: number;
  /** How many others choose by the same figures. */
  rivals: number;
}

/**
 * Runners at 70 % of their places, whose work comes and goes at random, of projects of which a few are large. Returns
 * the highest load as a multiple of the mean, and the share of work that began where its project's files were.
 */
export function simulatePlacement(
  random: () => number,
  { runners, capacity, rivals }: Placement,
): { imbalance: number; warm: number } {
  const all = Array.from({ length: runners }, () => ({ work: 0, projects: new Set<number>() }));
  const underWay: number[] = [];
  const seen = all.map((one) => one.work);
  const target = Math.floor(0.7 * runners * capacity);
  let warm = 0,
    counted = 0;
  for (let step = 0; step < 3 * target; step++) {
    if (underWay.length >= target)
      all[underWay.splice(Math.floor(random() * underWay.length), 1)[0]!]!.work--;
    if (step % rivals === 0) for (const [i, one] of all.entries()) seen[i] = one.work;
    const project = Math.floor(random() ** 2 * runners * 3);
    const candidates = all.flatMap((one, i) =>
      one.work < capacity
        ? candidate(String(i), { capacity, reserved: seen[i]!, keeps: one.projects.has(project) })
        : [],
    );
    const chosen = Number(chooseRunner(candidates, random)!.boot_id);
    const { projects } = all[chosen]!;
    if (step >= target) counted++;
    if (step >= target && projects.has(project)) warm++;
    all[chosen]!.work++;
    projects.add(project);
    underWay.push(chosen);
  }
  return {
    imbalance: Math.max(...all.map((one) => one.work)) / (target / runners),
    warm: warm / counted,
  };
}
