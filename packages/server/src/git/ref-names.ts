/**
 * What git takes as the name of a branch, as a pattern for schemas: the rules of git check-ref-format, and
 * nothing that begins with `-` or is `HEAD`.
 */
export const BRANCH_PATTERN =
  '^(?!-|@$|HEAD$)(?![\\s\\S]*(\\.\\.|@\\{|//|\\.lock(/|$)|[./]$|/\\.))(?![./])[^\\u0000-\\u0020\\u007f~^:?*\\[\\\\]+$';
const BRANCH = new RegExp(BRANCH_PATTERN, 'u');

/** A part of a name is a file's name, and git adds `.lock` to it. */
const MAX_PART_BYTES = 250;

/** Whether git takes this as the name of a branch; at most 255 bytes. */
export const isBranchName = (name: string): boolean =>
  name.length <= 255 &&
  Buffer.byteLength(name) <= 255 &&
  BRANCH.test(name) &&
  name.split('/').every((part) => Buffer.byteLength(part) <= MAX_PART_BYTES);

export const isCommitId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);
