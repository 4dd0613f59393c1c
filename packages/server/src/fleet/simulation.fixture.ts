/**
 * A fleet in simulated time: runners with the lease, workers with the choice and the thresholds of the product, and
 * between them a network that cuts, delays and loses, and a database that is away now and then. A seed decides all of
 * it. Tests and a benchmark look for broken promises:
 *
 *   a piece of work has one result, however many workers believe that they hold it
 *   nothing lives at a runner that counts as gone, so a build never runs twice
 *   no runner has more places taken than it has
 *   a runner that was reached all the time is not lost, whatever the database did
 *   once all is healed, every work comes to its end
 */
import { GONE_MS, LEASE_SECONDS, LOST_MS, REGISTER_MS, SUSPECT_MS } from '@headrace/runner/registration';
import { Lease } from '../../../runner/src/machine/lease.ts';
import { chooseRunner } from '../runner/choose.ts';
import { SEEN_MS } from './watch.ts';

/** Faults begin and end before; then everything has to come to its end. */
const STORMY_MS = 600_000;
const END_MS = STORMY_MS + 5 * GONE_MS;
/** Some of the work outlasts a lease, and what follows it. */
const SHORT_MS = 40_000;
const LONG_MS = 400_000;
/** A runner gives a report up after as long. */
const CALL_MS = 4_000;
const WORK_LOOK_MS = 1_000;
const RECOUNT_MS = 10_000;
/** A runner's clock may be slow or fast by this share. */
const DRIFT = 0.05;

/** A row of the table of runners, and the process that it is of. */
interface Machine {
  row: {
    state: 'ready' | 'suspect' | 'lost' | 'gone';
    lastSeenAt: number;
    reserved: number;
    capacity: number;
  } | null;
  /** Tasks that live there, and what those that ended have left. */
  tasks: Map<number, 'lives' | 'ended'>;
  isAlive: boolean;
  node: Node;
}

interface Node {
  capacity: number;
  /** When its clock shows 1 ms, as many ms have passed. */
  pace: number;
  cutUntil: number;
  /** The last time that the network kept something from its way. */
  hinderedAt: number;
}

interface Work {
  id: number;
  kind: 'run' | 'build';
  ms: number;
  /** Whose driver holds it: of all that believe so, the last one. */
  attempt: number;
  at: Machine | null;
  holds: boolean;
  results: number;
}

export interface Simulated {
  /** Promises that were broken. */
  broken: string[];
  results: number;
  lost: number;
}

export function simulateFleet(random: () => number): Simulated {
  const world = new World(random);
  world.run();
  return { broken: world.broken, results: world.results, lost: world.lost };
}

class World {
  readonly broken: string[] = [];
  results = 0;
  lost = 0;
  readonly #random: () => number;
  #now = 0;
  readonly #queue: { at: number; act: () => void }[] = [];
  readonly #machines: Machine[] = [];
  readonly #works: Work[] = [];
  #databaseAwayUntil = 0;
  #databaseSeenSince = 0;

  constructor(random: () => number) {
    this.#random = random;
    const nodes = 2 + this.#below(4);
    for (let n = 0; n < nodes; n++)
      this.#boot({
        capacity: 2 + this.#below(3),
        pace: 1 + DRIFT * (2 * random() - 1),
        cutUntil: 0,
        hinderedAt: 0,
      });
    const works = 5 + this.#below(20);
    for (let id = 0; id < works; id++) this.#after(this.#below(STORMY_MS), () => this.#arrive(id));
    for (let n = this.#below(6); n > 0; n--) this.#after(this.#below(STORMY_MS), () => this.#loseDatabase());
    for (let at = 1_000; at < END_MS; at += 1_000) this.#after(at, () => this.#judge());
    for (let at = RECOUNT_MS; at < END_MS; at += RECOUNT_MS) this.#after(at, () => this.#recount());
  }

  run(): void {
    for (let next = this.#queue.pop(); next && next.at <= END_MS; next = this.#queue.pop()) {
      this.#now = next.at;
      next.act();
    }
    for (const { id, results } of this.#works)
      if (results !== 1) this.broken.push(`work ${id} has ${results} results at the end`);
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  #after(ms: number, act: () => void): void {
    const at = this.#now + ms;
    // The next one is the last.
    let [low, high] = [0, this.#queue.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#queue[middle]!.at > at) low = middle + 1;
      else high = middle;
    }
    this.#queue.splice(low, 0, { at, act });
  }

  /** Brings something over the network, or loses it. */
  #send(node: Node, act: () => void): void {
    const isLate = this.#now < STORMY_MS && this.#random() < 0.01;
    if (isLate || this.#now < node.cutUntil) node.hinderedAt = this.#now;
    if (this.#now < node.cutUntil) return;
    this.#after(isLate ? this.#below(40_000) : 5 + this.#below(500), () => {
      if (this.#now >= node.cutUntil) act();
      else node.hinderedAt = this.#now;
    });
  }

  #isDatabaseThere(): boolean {
    return this.#now >= this.#databaseAwayUntil;
  }

  #loseDatabase(): void {
    this.#databaseAwayUntil = this.#now + this.#below(120_000);
    this.#databaseSeenSince = this.#databaseAwayUntil;
  }

  #boot(node: Node): void {
    const machine: Machine = { row: null, tasks: new Map(), isAlive: true, node };
    this.#machines.push(machine);
    const localNow = () => this.#now / node.pace;
    const end = () => {
      if (!machine.isAlive) return;
      machine.isAlive = false;
      machine.tasks.clear();
      lease.stop();
      this.#after(1_000, () => this.#boot(node));
    };
    const lease = new Lease(end, {
      now: localNow,
      after: (ms, call) => {
        let isCancelled = false;
        this.#after(ms * node.pace, () => isCancelled || call());
        return () => {
          isCancelled = true;
        };
      },
    });
    const report = () => {
      if (!machine.isAlive) return;
      if (this.#now < STORMY_MS) this.#harm(node, end);
      this.#report(machine, (isGone, sentAt) => {
        if (isGone) end();
        else if (machine.isAlive) lease.extend(sentAt, LEASE_SECONDS);
      });
      this.#after(REGISTER_MS * node.pace, report);
    };
    this.#after(this.#below(REGISTER_MS), report);
  }

  /** Now and then a runner is cut off for up to ten minutes, or killed. */
  #harm(node: Node, end: () => void): void {
    const chance = this.#random();
    if (chance < 0.01)
      node.cutUntil = Math.min(STORMY_MS, this.#now + this.#below(2 * this.#below(300_000) + 1));
    else if (chance < 0.012) end();
  }

  #report(machine: Machine, answered: (isGone: boolean, sentAt: number) => void): void {
    const { node } = machine;
    const [at, sentAt] = [this.#now, this.#now / node.pace];
    this.#send(node, () => {
      if (!this.#isDatabaseThere()) return;
      machine.row ??= { state: 'ready', lastSeenAt: this.#now, reserved: 0, capacity: node.capacity };
      const isGone = machine.row.state === 'gone';
      if (!isGone) Object.assign(machine.row, { state: 'ready', lastSeenAt: this.#now });
      this.#send(node, () => {
        if (this.#now - at < CALL_MS) answered(isGone, sentAt);
      });
    });
  }

  /** As `judgeSilent` and `watchFleet` do it. */
  #judge(): void {
    if (!this.#isDatabaseThere() || this.#now - this.#databaseSeenSince < SEEN_MS) return;
    for (const { row, tasks, node, isAlive } of this.#machines) {
      if (!row || row.state === 'gone') continue;
      const silent = this.#now - row.lastSeenAt;
      const state =
        silent > GONE_MS ? 'gone' : silent > LOST_MS ? 'lost' : silent > SUSPECT_MS ? 'suspect' : null;
      if (state === null || state === row.state) continue;
      row.state = state;
      const isHindered = this.#now - node.hinderedAt <= LOST_MS + CALL_MS;
      if (state === 'lost' && isAlive && !isHindered) this.broken.push('a runner that was reached is lost');
      const living = [...tasks.values()].filter((one) => one === 'lives').length;
      if (state === 'gone' && living > 0) this.broken.push(`${living} tasks live at a runner that is gone`);
    }
  }

  /** As `recountPlaces` does it. */
  #recount(): void {
    if (!this.#isDatabaseThere()) return;
    for (const machine of this.#machines)
      if (machine.row)
        machine.row.reserved = this.#works.filter(({ at, holds }) => holds && at === machine).length;
  }

  #arrive(id: number): void {
    const kind = this.#random() < 0.5 ? 'run' : 'build';
    const work: Work = {
      id,
      kind,
      ms: this.#below(this.#random() < 0.2 ? LONG_MS : SHORT_MS),
      attempt: 0,
      at: null,
      holds: false,
      results: 0,
    };
    this.#works.push(work);
    this.#drive(work, 1);
  }

  /** A worker with this attempt at the work. Others may take it over while this one goes on. */
  #drive(work: Work, attempt: number): void {
    work.attempt = attempt;
    // What it read last: it does not know of others' writes.
    let seen: Machine | null = work.at;
    const look = () => {
      if (this.#now < STORMY_MS && work.attempt === attempt && this.#random() < 0.005)
        this.#after(this.#below(5_000), () => work.results === 0 && this.#drive(work, attempt + 1));
      if (work.results > 0) return;
      if (this.#isDatabaseThere()) {
        seen ??= this.#place(work, attempt);
        if (seen) this.#goOn(work, attempt, seen);
      }
      this.#after(WORK_LOOK_MS, look);
    };
    look();
  }

  #isUsable({ row }: Machine): boolean {
    return row !== null && row.state === 'ready' && this.#now - row.lastSeenAt < SUSPECT_MS;
  }

  /** Takes a place and names the runner in the row, in one transaction with the fence. */
  #place(work: Work, attempt: number): Machine | null {
    const candidates = this.#machines.filter(
      (one) => this.#isUsable(one) && one.row!.reserved < one.row!.capacity,
    );
    const chosen = chooseRunner(
      candidates.map((one) => ({
        boot_id: String(this.#machines.indexOf(one)),
        capacity: one.row!.capacity,
        // Others take places at the same time.
        reserved: Math.max(0, one.row!.reserved - this.#below(2)),
        used: this.#random(),
        keeps: this.#random() < 0.3,
      })),
      this.#random,
    );
    if (!chosen || work.attempt !== attempt || work.at) return null;
    const machine = this.#machines[Number(chosen.boot_id)]!;
    if (machine.row!.reserved >= machine.row!.capacity) return null;
    machine.row!.reserved++;
    Object.assign(work, { at: machine, holds: true });
    const taken = this.#works.filter(({ at, holds }) => holds && at === machine).length;
    if (taken > machine.row!.capacity)
      this.broken.push(`${taken} places of ${machine.row!.capacity} are taken`);
    return machine;
  }

  /** Starts the task where it is not there yet, reads how it ended, or finds it lost. */
  #goOn(work: Work, attempt: number, at: Machine): void {
    const state = at.row!.state;
    if (state === 'gone' || (state === 'lost' && work.kind === 'run')) {
      this.lost++;
      return this.#settle(work, attempt, at);
    }
    if (state === 'lost') return;
    this.#send(at.node, () => {
      if (!at.isAlive) return;
      const task = at.tasks.get(work.id);
      if (task === undefined) {
        // A run that another worker has ended is started by nobody: only who read the row before may still try.
        at.tasks.set(work.id, 'lives');
        this.#after(work.ms, () => at.tasks.has(work.id) && at.tasks.set(work.id, 'ended'));
      } else if (task === 'ended') this.#send(at.node, () => this.#settle(work, attempt, at));
    });
  }

  /** The last transaction: only with the fence, and only for work that has not ended. */
  #settle(work: Work, attempt: number, at: Machine): void {
    if (!this.#isDatabaseThere() || work.attempt !== attempt || work.results > 0) return;
    work.results++;
    this.results++;
    if (work.holds) at.row!.reserved = Math.max(0, at.row!.reserved - 1);
    work.holds = false;
  }
}
