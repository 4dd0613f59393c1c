/** An import as JSON: all files, or changes to a source of the app. */
import { BUNDLE_LIMITS } from '../../trees/limits.ts';
import { bundleFaults, checkFiles, parseBody } from './bundle.ts';
import type { Bundle, BundleBody } from './bundle.ts';
import type { Refusal } from './bundle-rules.ts';
import { editFaults, readEdit } from './edits.ts';
import type { Edit, EditBody } from './edits.ts';
import { isObject } from './shape.ts';

type ChangesBody = EditBody<'baseSourceId'>;

/** Either member of an import by changes makes the body one, so that a missing other member is a fault. */
const isByChanges = (body: unknown): body is ChangesBody =>
  isObject(body) && (Object.hasOwn(body, 'baseSourceId') || Object.hasOwn(body, 'changes'));

export function parseJsonImport(bytes: Uint8Array): Bundle | Edit | Refusal {
  const parsed = parseBody<BundleBody | ChangesBody>(bytes, (value) =>
    isByChanges(value) ? editFaults(value, 'baseSourceId') : bundleFaults(value),
  );
  if ('ok' in parsed) return parsed;
  const { body } = parsed;
  return isByChanges(body) ? readEdit(body, body.baseSourceId, BUNDLE_LIMITS) : checkFiles(body);
}
