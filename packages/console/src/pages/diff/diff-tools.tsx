/** How a difference is shown, and the search in it. */
import { Columns2, FolderTree, Link2, WrapText } from 'lucide-react';
import type { DiffLook } from '../../code/index.ts';
import { Toggle } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { notify } from '../../ui/notices.tsx';
import { CopyButton, copyText } from '../../ui/values.tsx';
import { FindField } from './find-field.tsx';

/** What changes in the address. */
interface LookSearch {
  view?: 'split' | undefined;
  space?: 'hide' | undefined;
  wrap?: boolean | undefined;
}

interface Props {
  look: DiffLook;
  canSplit: boolean;
  find: string;
  onFind: (text: string) => void;
  /** Goes to the next match; false if there is none. */
  search: (back: boolean) => boolean;
  isTreeOpen: boolean;
  onTree: (isOpen: boolean) => void;
  onLook: (change: LookSearch) => void;
}

export function DiffTools({ look, canSplit, find, onFind, search, isTreeOpen, onTree, onLook }: Props) {
  return (
    <div className="ml-auto flex flex-wrap items-center gap-1 max-sm:contents">
      <FindField text={find} onText={onFind} search={search} missing="No match in the files read so far" />
      <span className="md:hidden">
        <Toggle kind="quiet" isSelected={isTreeOpen} onChange={onTree}>
          <FolderTree size={14} aria-hidden /> Files
        </Toggle>
      </span>
      {canSplit && (
        <Toggle
          kind="quiet"
          isSelected={look.split}
          onChange={(on) => onLook({ view: on ? 'split' : undefined })}
        >
          <Columns2 size={14} aria-hidden /> Split
        </Toggle>
      )}
      <Toggle
        kind="quiet"
        isSelected={look.split || look.wrap}
        isDisabled={look.split}
        onChange={(on) => onLook({ wrap: on })}
      >
        <WrapText size={14} aria-hidden /> Wrap
      </Toggle>
      <Toggle
        kind="quiet"
        isSelected={look.ignoreSpace}
        onChange={(on) => onLook({ space: on ? 'hide' : undefined })}
      >
        Ignore space
      </Toggle>
      <Permalink />
    </div>
  );
}

/** Copies the address of what is shown. */
export function Permalink() {
  const copy = async () => {
    if (await copyText(location.href)) notify('The link is copied.');
  };
  useKeys([{ keys: 'y', does: 'Copy a link to this place', run: () => void copy() }]);
  return (
    <CopyButton text={() => location.href} label="Copy a link to this place" icon={<Link2 size={14} />} />
  );
}
