/** Hand-made tar archives for tests: every field can be wrong. */
export interface FixtureEntry {
  path: string | Buffer;
  content?: string | Buffer;
  mode?: number;
  type?: string;
  link?: string;
  /** The size in the header, whatever the content. */
  size?: number;
  prefix?: string;
  magic?: string;
  /** pax records written before the entry. */
  pax?: Record<string, string | Buffer>;
  breakChecksum?: boolean;
}

export function tarFixture(entries: FixtureEntry[], end = true): Buffer {
  const blocks = entries.flatMap((e) => [
    ...(e.pax ? entryBlocks({ path: 'PaxHeader', type: 'x', content: paxContent(e.pax) }) : []),
    ...entryBlocks(e),
  ]);
  return Buffer.concat(end ? [...blocks, Buffer.alloc(1024)] : blocks);
}

function entryBlocks(e: FixtureEntry): Buffer[] {
  const content = Buffer.from(e.content ?? '');
  const h = Buffer.alloc(512);
  const path = Buffer.from(e.path);
  path.copy(h, 0, 0, 100);
  h.write(`${(e.mode ?? 0o644).toString(8).padStart(7, '0')}\0`, 100);
  h.write(`${(e.size ?? content.length).toString(8).padStart(11, '0')}\0`, 124);
  h.write('14000000000\0', 136);
  h.write('        ', 148);
  if (e.type !== '\0') h.write(e.type ?? '0', 156);
  h.write(e.link ?? '', 157, 100);
  h.write(e.magic ?? 'ustar\x0000', 257, 'latin1');
  h.write(e.prefix ?? '', 345, 155);
  const sum = h.reduce((n, byte) => n + byte, e.breakChecksum ? 1 : 0);
  h.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [h, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
}

export function paxContent(records: Record<string, string | Buffer>): Buffer {
  return Buffer.concat(
    Object.entries(records).map(([key, value]) => {
      const body = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from('\n')]);
      let length = body.length + 1;
      while (String(length).length + body.length !== length) length = String(length).length + body.length;
      return Buffer.concat([Buffer.from(String(length)), body]);
    }),
  );
}
