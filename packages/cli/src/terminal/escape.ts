/**
 * Text of strangers (files, agents, commands, names) on a terminal: control characters are shown, not sent, so that no
 * text moves the cursor, changes colours or titles, or hides what is there.
 */
// C0 but tab and newline, DEL, C1, and characters that change the direction of text.
// oxlint-disable-next-line no-control-regex -- they are what this looks for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Keeps line breaks and tabs. */
export const shown = (text: string): string =>
  text.replace(/\r\n/g, '\n').replace(CONTROL, (character) => {
    const code = character.codePointAt(0)!;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? '␡' : `<${code.toString(16).padStart(4, '0').toUpperCase()}>`;
  });

/** On one line. */
export const oneLine = (text: string): string =>
  shown(text)
    .replace(/[\n\t]+/g, ' ')
    .trim();

// oxlint-disable-next-line no-control-regex -- the codes of `style.ts`
const OWN_COLOR = /(\u001b\[(?:[127]|22|27|3\d|90)m)/;

/** Text with the colours of this program: every other control character in it is a stranger's. */
export const painted = (text: string): string =>
  text
    .split(OWN_COLOR)
    .map((part, at) => (at % 2 === 1 ? part : shown(part)))
    .join('');
