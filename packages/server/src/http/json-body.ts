/** A JSON body as the object that operations take. Knows no request: a thread parses large ones. */
import { invalid } from './errors.ts';
import { parseStrictJson } from './strict-json.ts';

/** The object; `{}` where the body is empty. Throws 400. */
export function parseJsonObject(bytes: Uint8Array): object {
  if (bytes.length === 0) return {};
  let parsed: ReturnType<typeof parseStrictJson>;
  try {
    parsed = parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalid({ path: '', message: error.message });
  }
  if (parsed.faults.length) throw invalid(...parsed.faults.map(({ path, message }) => ({ path, message })));
  if (parsed.value === null || typeof parsed.value !== 'object' || Array.isArray(parsed.value))
    throw invalid({ path: '', message: 'The body has to be a JSON object' });
  return parsed.value;
}
