/**
 * Whether git takes this as the name of a branch: the rules of git check-ref-format, at most 255 bytes, and
 * nothing that begins with `-` or is `HEAD`.
 */
export function isBranchName(name: string): boolean {
  return (
    Buffer.byteLength(name) <= 255 &&
    name !== '' &&
    name !== '@' &&
    name !== 'HEAD' &&
    !name.startsWith('-') &&
    // eslint-disable-next-line no-control-regex
    !/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$/.test(name) &&
    name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

export const isCommitId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);
