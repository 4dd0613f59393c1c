/** A patch that cannot be read or does not fit; the message names file and place. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
}
