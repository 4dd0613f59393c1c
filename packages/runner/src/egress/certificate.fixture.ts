import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const extension = (hex: string, value: Buffer): Buffer => sequence(oid(hex), der(0x04, value));

/**
 * A key and a self-signed certificate for these names, both PEM: without a file there is nothing to protect
 * and nothing to expire.
 */
export function testCertificate(names: string[]): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('test')))));
  const day = (shift: number): Buffer =>
    der(
      0x17,
      Buffer.from(
        `${new Date(Date.now() + shift * 86_400_000).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`,
      ),
    );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(day(-1), day(30)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension('551d13', sequence(der(0x01, Buffer.from([0xff])))),
        extension('551d11', sequence(...names.map((n) => der(0x82, Buffer.from(n))))),
      ),
    ),
  );
  const certificate = sequence(
    body,
    algorithm,
    der(0x03, Buffer.from([0]), sign('sha256', body, privateKey)),
  );
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}
