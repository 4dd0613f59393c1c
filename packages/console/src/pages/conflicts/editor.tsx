/** The result in an editor, compared with one of the sides. A chunk of its own: most conflicts need no editor. */
import './conflict.css';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { goToNextChunk, goToPreviousChunk, unifiedMergeView } from '@codemirror/merge';
import { Compartment, EditorState, RangeSetBuilder, Text } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  ViewPlugin,
  drawSelection,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import type { DecorationSet, ViewUpdate } from '@codemirror/view';
import type { ConflictFile } from '@headrace/client';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { plural } from '../../ui/values.tsx';
import { LOOK } from './editor-look.ts';
import { markersIn } from './regions.ts';
import { SIDES } from './words.ts';
import type { SideName } from './words.ts';

interface Props {
  file: ConflictFile;
  content: string;
  onChange: (content: string) => void;
  onClose: () => void;
}

export default function Editor({ file, content, onChange, onClose }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef({ content, onChange, onClose });
  useEffect(() => {
    latest.current = { content, onChange, onClose };
  });
  const [against, setAgainst] = useState<SideName | 'nothing'>(
    file.head?.content == null ? 'nothing' : 'head',
  );
  const [compared] = useState(() => new Compartment());
  useEffect(() => {
    const { content: start } = latest.current;
    const made = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: start,
        extensions: [
          nonce(),
          EditorState.lineSeparator.of(lineEndOf(start)),
          history(),
          drawSelection(),
          lineNumbers(),
          highlightSpecialChars(),
          EditorView.lineWrapping,
          typing,
          markers,
          LOOK,
          EditorView.contentAttributes.of({ 'aria-label': `Result of ${file.path}`, spellcheck: 'false' }),
          keymap.of([
            { key: 'Escape', run: () => (latest.current.onClose(), true) },
            { key: 'Mod-Enter', run: () => (latest.current.onClose(), true) },
            { key: 'Alt-ArrowDown', run: goToNextChunk },
            { key: 'Alt-ArrowUp', run: goToPreviousChunk },
            ...historyKeymap,
            ...defaultKeymap,
          ]),
          compared.of([]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.sliceDoc());
          }),
        ],
      }),
    });
    view.current = made;
    made.focus();
    return () => made.destroy();
  }, [file.path, compared]);
  useEffect(() => {
    const side = against === 'nothing' ? null : file[against];
    const original = side?.encoding === 'utf8' ? side.content : null;
    const end = lineEndOf(latest.current.content);
    view.current?.dispatch({
      effects: compared.reconfigure(
        original === null
          ? []
          : unifiedMergeView({
              original: Text.of(original.split(end)),
              mergeControls: false,
              gutter: true,
              collapseUnchanged: { margin: 4, minSize: 12 },
            }),
      ),
    });
  }, [against, file, compared]);
  const left = markersIn(content, file);
  return (
    <section aria-label="Result" className="mt-4">
      <div className="flex min-h-9 flex-wrap items-center gap-2 px-4 pb-2">
        <h3 className="font-bold">Result: your own text</h3>
        <span role="status" className={`mr-auto text-12 ${left > 0 ? 'text-conflict-mark' : 'text-ink-3'}`}>
          {left > 0 ? `${plural(left, 'line')} with markers left` : 'no markers left'}
        </span>
        <Select
          quiet
          label="Compare with"
          value={against}
          onChange={(id) => setAgainst(id as SideName | 'nothing')}
          choices={[
            ...SIDES.filter((side) => file[side]?.encoding === 'utf8' && file[side].content !== null).map(
              (side) => ({ id: side, text: `Compared with the ${side}` }),
            ),
            { id: 'nothing', text: 'Not compared' },
          ]}
        />
        <Button onPress={onClose}>Close the editor</Button>
      </div>
      <div
        ref={place}
        className="border-y border-line focus-within:outline-2 focus-within:-outline-offset-2 focus-within:outline-water"
      />
      <p className="px-4 pt-1 text-12 text-ink-3">
        Kept as you type. Escape closes the editor; Alt with an arrow goes to the next difference.
      </p>
    </section>
  );
}

/** Styles of the editor pass the page's policy only with its nonce. */
function nonce(): Extension {
  const meta = document.querySelector<HTMLElement>('meta[property=csp-nonce]');
  return meta?.nonce ? EditorView.cspNonce.of(meta.nonce) : [];
}

/** The editor has one kind of line end: with mixed ones, carriage returns stay as characters. */
function lineEndOf(text: string): string {
  const ends = text.split('\n').length - 1;
  return ends > 0 && text.split('\r\n').length - 1 === ends ? '\r\n' : '\n';
}

/** Typed over a selection, the browser would keep its look as a style attribute, which the policy refuses. */
const typing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data, isComposing } = event;
    if (inputType !== 'insertText' || data === null || isComposing || view.state.selection.main.empty)
      return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

const PLACE = Decoration.line({ class: 'cm-place' });
const MARK = Decoration.line({ class: 'cm-place cm-place-mark' });

/** Lines between git's markers are hatched. */
const markers = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = placesIn(view.state);
    }
    update(update: ViewUpdate) {
      if (update.docChanged) this.decorations = placesIn(update.state);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function placesIn({ doc }: EditorState): DecorationSet {
  const found = new RangeSetBuilder<Decoration>();
  let isInside = false;
  for (let number = 1; number <= doc.lines; number++) {
    const { from, text } = doc.line(number);
    const isEnd = isInside && text.startsWith('>>>>>>> ');
    if (text.startsWith('<<<<<<< ')) isInside = true;
    if (isInside) found.add(from, from, /^(<{7} |={7}\r?$|>{7} )/.test(text) ? MARK : PLACE);
    if (isEnd) isInside = false;
  }
  return found.finish();
}
