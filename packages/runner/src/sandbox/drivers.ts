import { BubblewrapDriver } from './bubblewrap/driver.ts';
import { containerDriver, type ContainerSettings } from './container/driver.ts';
import type { Driver } from './driver.ts';
import type { Host } from './host.ts';
import { probe, type Probe } from './probe.ts';

export interface DriverChoice extends ContainerSettings {
  driver: 'auto' | Driver['name'];
}

export const DEFAULT_CHOICE: DriverChoice = { driver: 'auto', socket: null, image: null, runtime: null };

/**
 * Gives the host the requested driver, or the first that isolates here: bubblewrap, then containers. Fails
 * closed: where none does, `ok` is false and nothing runs. May be called again, since the missing parts may
 * have been installed since.
 */
export async function chooseDriver(host: Host, choice: DriverChoice): Promise<Probe> {
  const failures: Probe[] = [];
  for (const make of [BubblewrapDriver, undefined] as const) {
    if (choice.driver !== 'auto' && (choice.driver === 'bubblewrap') !== (make !== undefined)) continue;
    const driver = make ? new make(host) : containerDriver(host, choice);
    const found = await probe(host, driver);
    if (found.ok) {
      host.driver = driver;
      return found;
    }
    await driver.close().catch(() => {
      /* an engine that fails: what it was asked to prove, the next one is asked again */
    });
    failures.push(found);
  }
  return {
    ...failures[0]!,
    missing:
      failures.length === 1
        ? failures[0]!.missing
        : [failures[0]!.missing.join('; '), `or, for containers: ${failures[1]!.missing.join('; ')}`],
  };
}
