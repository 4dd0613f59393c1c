/** Where Prometheus reads a process's metrics: a port of its own, without authentication. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TEXT_TYPE } from './metrics.ts';

export interface MetricsListener {
  /** The port that the process was given for 0. */
  port: number;
  close(): Promise<void>;
}

const HEADERS_MS = 5_000;
const MOST_CONNECTIONS = 32;

/** Answers `GET /metrics` at that address. Throws where it cannot listen. */
export async function listenForMetrics(
  { host, port }: { host: string; port: number },
  text: () => Promise<string>,
): Promise<MetricsListener> {
  const server = createServer(
    { headersTimeout: HEADERS_MS, requestTimeout: HEADERS_MS, keepAliveTimeout: 75_000 },
    (req, res) => {
      if (req.url?.split('?')[0] !== '/metrics') return void res.writeHead(404).end();
      if (req.method !== 'GET' && req.method !== 'HEAD')
        return void res.writeHead(405, { allow: 'GET, HEAD' }).end();
      text().then(
        (body) => res.writeHead(200, { 'content-type': TEXT_TYPE, 'cache-control': 'no-store' }).end(body),
        () => res.writeHead(500).end(),
      );
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server
      .once('error', (error) => reject(new Error(`Metrics cannot be served: ${error.message}`)))
      .listen(port, host, resolve);
  });
  server.on('error', () => {});
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
