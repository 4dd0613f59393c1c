import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/**
 * A WebSocket as the stream below an HTTP/2 session. It outlives the WebSocket: then nothing more is read, and what is written is
 * dropped. Whoever has the session destroys it when the WebSocket has closed, and the session closes the stream. The other way
 * around, as `createWebSocketStream` of `ws` does it, a session that writes twice before it hears of the end meets an assertion in
 * Node's adapter for such streams (JSStreamSocket.doWrite), and the process ends.
 */
export function sessionStream(ws: WebSocket): Duplex {
  const stream = new Duplex({
    read() {
      if (ws.isPaused) ws.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      if (ws.readyState === ws.OPEN) ws.send(chunk, () => done());
      else done();
    },
    final(done) {
      ws.close();
      done();
    },
    destroy(error, done) {
      ws.terminate();
      done(error);
    },
  });
  ws.on('message', (data: Buffer) => {
    if (!stream.destroyed && !stream.push(data)) ws.pause();
  });
  // Its `close` follows.
  ws.on('error', () => {});
  return stream;
}
