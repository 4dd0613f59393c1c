/**
 * Clients that do not hang on a server that is gone. A host without power sends nothing: a query that is sent ends by
 * its `query_timeout`, and a connection that waits by keepalives, after 15 s (node sends ten, one a second).
 */
import pg from 'pg';

/** Part of every connection to the database. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 } as const;

/**
 * Breaks its connection when the answer to a query does not come in time: pg alone keeps it, and the next query would
 * wait for the same server.
 */
class Timed extends pg.Client {
  // Its overloads are those of `pg.Client`.
  override query(...args: never[]): never {
    const answer = (super.query as (...all: never[]) => unknown)(...args);
    if (answer instanceof Promise)
      answer.catch((error: Error) => {
        if (error.message === 'Query read timeout') this.#break();
      });
    return answer as never;
  }

  #break(): void {
    (this as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }
}

export const TimedClient = Timed as unknown as typeof pg.Client;
