const HANDSHAKE = 22,
  CLIENT_HELLO = 1,
  SERVER_NAME = 0,
  HOST_NAME = 0;
const RECORD_HEADER = 5,
  MESSAGE_HEADER = 4,
  RECORD_BYTES = 16 * 1024;
/** The most records that a ClientHello may span: reading many small ones again and again would take long. */
const RECORDS = 8;
/** Fields before the session id: version and random. */
const FIXED = 34;

/** A fatal alert `unrecognized_name`, for a client whose handshake is refused. */
export const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * The server name (RFC 6066) that the first bytes of a TLS connection ask for; null: they are not a
 * ClientHello, or it has no name or several; undefined: more bytes are needed.
 */
export function serverNameOf(bytes: Buffer): string | null | undefined {
  const message = firstMessage(bytes);
  if (!message) return message;
  try {
    return nameIn(message);
  } catch {
    return null;
  }
}

/** The first handshake message without its header; it may span several records. */
function firstMessage(bytes: Buffer): Buffer | null | undefined {
  let message: Buffer = Buffer.alloc(0);
  for (let at = 0, records = 0; records < RECORDS; records++) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE) return null;
    if (bytes.length < at + RECORD_HEADER) return undefined;
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at + 1] !== 3 || length === 0 || length > RECORD_BYTES) return null;
    const record = bytes.subarray(at + RECORD_HEADER, at + RECORD_HEADER + length);
    message = at === 0 ? record : Buffer.concat([message, record]);
    if (message.length > 0 && message[0] !== CLIENT_HELLO) return null;
    const whole = message.length < MESSAGE_HEADER ? Infinity : MESSAGE_HEADER + message.readUIntBE(1, 3);
    if (message.length >= whole) return message.subarray(MESSAGE_HEADER, whole);
    if (record.length < length) return undefined;
    at += RECORD_HEADER + length;
  }
  return null;
}

/** Throws RangeError where a length points outside the message. */
function nameIn(hello: Buffer): string | null {
  let at = FIXED;
  at += 1 + hello.readUInt8(at); // session id
  at += 2 + hello.readUInt16BE(at); // cipher suites
  at += 1 + hello.readUInt8(at); // compression methods
  const end = at + 2 + hello.readUInt16BE(at);
  const names: (string | null)[] = [];
  for (at += 2; at < end;) {
    const type = hello.readUInt16BE(at),
      length = hello.readUInt16BE(at + 2);
    if (type === SERVER_NAME) names.push(onlyName(hello.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return names.length === 1 ? names[0]! : null;
}

/** The name of a server_name extension that has exactly one. */
function onlyName(list: Buffer): string | null {
  const length = list.readUInt16BE(3);
  return list.readUInt8(2) === HOST_NAME && list.length === 5 + length && list.readUInt16BE(0) === 3 + length
    ? list.toString('latin1', 5)
    : null;
}
