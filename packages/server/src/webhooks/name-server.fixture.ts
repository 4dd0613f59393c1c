/** A name server on this machine whose answers a test decides. */
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { nameResolver } from './resolve.ts';
import type { Resolve } from './resolve.ts';

/** The answer to a name's nth question (from 0) for one kind of address; null: no answer. */
type Zone = (name: string, n: number) => string[] | null;

export interface NameServer {
  /** The questions for IPv4 addresses. */
  asked: string[];
  /** Looks up by this server alone. */
  resolve: Resolve;
  close(): Promise<void>;
}

const TYPES: Record<number, 4 | 6> = { 1: 4, 28: 6 };

export async function openNameServer(zone: Zone): Promise<NameServer> {
  const asked: string[] = [];
  const counts = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end } = nameIn(query);
    const family = TYPES[query.readUInt16BE(end)];
    if (family === 4) asked.push(name);
    const key = `${name} ${family}`;
    const n = counts.get(key) ?? 0;
    counts.set(key, n + 1);
    const found = zone(name, n);
    if (found)
      socket.send(
        answerTo(
          query,
          end + 4,
          found.filter((each) => isIP(each) === family),
        ),
        from.port,
        from.address,
      );
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const makeResolver = () => {
    const resolver = new Resolver({ timeout: 2_500, tries: 2 });
    resolver.setServers([`127.0.0.1:${socket.address().port}`]);
    return resolver;
  };
  return {
    asked,
    resolve: nameResolver(makeResolver, '/dev/null'),
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** The name of the only question, and where it ends. */
function nameIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

function answerTo(query: Buffer, end: number, addresses: string[]): Buffer {
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const bytes = bytesOf(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(bytes.length === 4 ? 1 : 28, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([head, query.subarray(12, end), ...records]);
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [left, right = ''] = address.split('::');
  const words = (part: string) => part.split(':').filter(Boolean);
  const zeros = Array.from({ length: 8 - words(left!).length - words(right).length }, () => '0');
  return Buffer.from(
    [...words(left!), ...zeros, ...words(right)].map((word) => word.padStart(4, '0')).join(''),
    'hex',
  );
}
