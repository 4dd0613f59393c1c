import { useId, useState } from 'react';
import { isConflict, partsOf, textOf } from './parts.js';

const KINDS = {
  content: 'Both changed it', add_add: 'Both added it', delete_modify: 'One deleted it, the other changed it',
  rename: 'It was renamed', mode: 'Its mode was changed', binary: 'It is not text', path: 'Two names collide',
};
const SIDES = { head: 'Current version', draft: 'This draft' };

/** A conflict is unchanged if all its sides are: decisions on it remain valid. */
const identityOf = ({ path, base, head, draft }) => JSON.stringify([path, base?.sha256, head?.sha256, draft?.sha256]);

/**
 * Resolves conflicts, file by file: with one side's whole file, place by place, or with the user's own text.
 *
 *     <ConflictEditor files={files} onDecide={(decisions) => …} />
 *
 * `files` as `applies.previewFile` returns them. `onDecide` may return a promise; its errors are shown. With new `files`,
 * decisions on unchanged files remain. Decisions: `{ path, take: 'head' | 'draft' }` or `{ path, content }`.
 */
export function ConflictEditor({ files, onDecide }) {
  const [decided, setDecided] = useState({});
  const [isSending, setSending] = useState(false);
  const [fault, setFault] = useState(null);
  const decisions = files.map((file) => decided[identityOf(file)] ?? null);
  const open = decisions.filter((decision) => !decision).length;

  const decide = (file) => (decision) => setDecided((all) => ({ ...all, [identityOf(file)]: decision && { path: file.path, ...decision } }));
  async function send(event) {
    event.preventDefault();
    setSending(true);
    setFault(null);
    try {
      await onDecide(decisions);
    } catch (error) {
      setFault(error.message);
    } finally {
      setSending(false);
    }
  }

  return (
    <form onSubmit={send} aria-label="Conflicts">
      {files.map((file, i) => <FileConflict key={identityOf(file)} file={file} decision={decisions[i]} onDecide={decide(file)} />)}
      {fault && <p role="alert">{fault}</p>}
      <p aria-live="polite">{open ? `${open} of ${files.length} files open` : 'All decided'}</p>
      <button disabled={open > 0 || isSending}>{isSending ? 'Applying…' : 'Apply'}</button>
    </form>
  );
}

function FileConflict({ file, decision, onDecide }) {
  const parts = file.merged ? partsOf(file.merged) : null;
  const [choices, setChoices] = useState({});
  const [own, setOwn] = useState(null);

  const choose = (index, side) => {
    const next = { ...choices, [index]: side };
    const content = textOf(parts, next);
    setChoices(next);
    setOwn(null);
    onDecide(content === null ? null : { content });
  };
  const takeSide = (take) => {
    setChoices(Object.fromEntries(parts?.flatMap((part, i) => (isConflict(part) ? [[i, take]] : [])) ?? []));
    setOwn(null);
    onDecide({ take });
  };
  const write = (content) => {
    setChoices({});
    setOwn(content);
    onDecide(hasMarkers(content) ? null : { content });
  };

  return (
    <fieldset>
      <legend>
        <code>{file.path}</code> {KINDS[file.kind]} {decision ? '✓' : ''}
      </legend>
      <Choice label="The whole file" options={SIDES} value={decision?.take} onChoose={takeSide} describe={(side) => sizeOf(file[side])} />
      {parts && own === null && <Merged parts={parts} choices={choices} onChoose={choose} />}
      {parts && (own === null
        ? <button type="button" onClick={() => write(decision?.content ?? file.merged.content)}>Write it myself</button>
        : <Own path={file.path} value={own} onWrite={write} />)}
      <details>
        <summary>Before both</summary>
        <Side side={file.base} />
      </details>
      {!parts && Object.entries(SIDES).map(([side, name]) => (
        <details key={side}>
          <summary>{name}</summary>
          <Side side={file[side]} />
        </details>
      ))}
    </fieldset>
  );
}

function Merged({ parts, choices, onChoose }) {
  let count = 0;
  return parts.map((part, i) => isConflict(part)
    ? (
      <div key={i} className="conflict">
        <div className="sides">
          {Object.entries(SIDES).map(([side, name]) => <pre key={side} className={side} aria-label={name}>{part[side] || '(nothing)'}</pre>)}
        </div>
        <Choice label={`Place ${++count}`} options={{ ...SIDES, both: 'Both' }} value={choices[i]} onChoose={(side) => onChoose(i, side)} />
      </div>
    )
    : <Agreed key={i} text={part.text} />);
}

/** Folds long unchanged text, so that the conflicts stay in view. */
function Agreed({ text }) {
  const lines = text.split('\n').length - 1;
  return lines <= 6 ? <pre>{text}</pre> : <details><summary>{lines} lines without a conflict</summary><pre>{text}</pre></details>;
}

const hasMarkers = (text) => /^(<{7}|>{7})/m.test(text);

function Own({ path, value, onWrite }) {
  return (
    <>
      <textarea aria-label={`Own text of ${path}`} value={value} onChange={(event) => onWrite(event.target.value)} rows={Math.min(30, value.split('\n').length + 1)} spellCheck={false} />
      {hasMarkers(value) && <p role="status">There are still markers in the text.</p>}
    </>
  );
}

function Choice({ label, options, value, onChoose, describe = () => '' }) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label}>
      {label}:
      {Object.entries(options).map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={name} value={option} checked={value === option} onChange={() => onChoose(option)} /> {text} {describe(option)}
        </label>
      ))}
    </div>
  );
}

const sizeOf = (side) => (side ? `(${side.byteSize} bytes)` : '(no file)');

function Side({ side }) {
  if (!side) return <p>No file.</p>;
  if (side.encoding !== 'utf8' || side.content === null) return <p>{sizeOf(side)}, not shown.</p>;
  return <pre>{side.content}</pre>;
}
