/** The editor in the console's colours. */
import { EditorView } from '@codemirror/view';

const HATCH = `repeating-linear-gradient(135deg, transparent 0 6px, color-mix(in srgb, var(--conflict-mark) 16%, transparent) 6px 7px)`;

export const LOOK = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { font: "400 12.5px/20px 'Atkinson Hyperlegible Mono', ui-monospace, monospace" },
  '.cm-content': { caretColor: 'var(--ink)', padding: '4px 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--water-wash)',
  },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--ink-2)', border: 'none' },
  '.cm-specialChar': { color: 'var(--wait)' },
  '.cm-place': { backgroundColor: 'var(--conflict)', backgroundImage: HATCH },
  '.cm-place-mark': { color: 'var(--conflict-mark)', fontWeight: '600' },
  '&.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--added)' },
  '&.cm-merge-b .cm-changedLine.cm-place': { backgroundColor: 'var(--conflict)' },
  '&.cm-merge-b .cm-changedText': { background: 'var(--added-word)' },
  '&.cm-merge-b .cm-place-mark .cm-changedText': { background: 'none' },
  '.cm-deletedChunk': { backgroundColor: 'var(--removed)', color: 'var(--ink)', paddingLeft: '6px' },
  '.cm-deletedChunk .cm-deletedText': { background: 'var(--removed-word)' },
  '.cm-changeGutter': { width: '3px', paddingLeft: '1px' },
  '&.cm-merge-b .cm-changedLineGutter': { background: 'var(--added-mark)' },
  '.cm-deletedLineGutter': { background: 'var(--removed-mark)' },
  // Its own signs are in no font here.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '""', margin: '0' },
  '.cm-collapsedLines': {
    background: 'var(--sunk)',
    color: 'var(--ink-2)',
    borderBlock: '1px solid var(--line)',
    padding: '2px 12px',
    font: '400 12px/16px var(--font-text)',
  },
});
