/** A fetch that tells how much of its body has left, which the browser's own does not. For bodies in memory. */
export function uploadFetch(onSent: (bytes: number) => void): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const { signal, body, headers, method = 'GET' } = init;
      const request = new XMLHttpRequest();
      const end = () => signal?.removeEventListener('abort', abort);
      const abort = () => request.abort();
      request.open(method, input instanceof Request ? input.url : input);
      new Headers(headers).forEach((value, name) => request.setRequestHeader(name, value));
      request.responseType = 'arraybuffer';
      request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
      request.addEventListener('load', () => {
        end();
        resolve(responseOf(request));
      });
      request.addEventListener('error', () => {
        end();
        reject(new TypeError('The connection was lost.'));
      });
      request.addEventListener('abort', () => {
        end();
        reject(new DOMException('The upload was cancelled.', 'AbortError'));
      });
      signal?.addEventListener('abort', abort);
      if (signal?.aborted) abort();
      request.send((body as XMLHttpRequestBodyInit | null | undefined) ?? null);
    });
}

function responseOf(request: XMLHttpRequest): Response {
  const headers = request
    .getAllResponseHeaders()
    .trim()
    .split('\r\n')
    .flatMap((line): [string, string][] => {
      const at = line.indexOf(': ');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 2)]];
    });
  const { status, response } = request;
  return new Response(status === 204 ? null : (response as ArrayBuffer), { status, headers });
}
