/** The files of an artifact as a tree. Folders open and close; a filter lists the paths that have a text. */
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import { bytes, count, plural } from '../../ui/values.tsx';
import { bigFolders, treeRows } from './manifest.ts';
import type { ManifestFile, TreeRow } from './manifest.ts';

/** More rows come by a button. */
const STEP = 400;

export function ManifestView({ files }: { files: readonly ManifestFile[] }) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => bigFolders(files, STEP));
  const [filter, setFilter] = useState('');
  const [most, setMost] = useState(STEP);
  const rows = useMemo(() => {
    if (!filter) return treeRows(files, closed);
    const wanted = filter.toLowerCase();
    return files
      .filter(({ path }) => path.toLowerCase().includes(wanted))
      .map((file): TreeRow => ({
        path: file.path,
        name: file.path,
        depth: 0,
        file,
        byteSize: file.byteSize,
        fileCount: 1,
      }));
  }, [files, closed, filter]);
  const toggle = (path: string) => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    setClosed(next);
  };
  if (files.length === 0)
    return (
      <Empty title="The artifact is empty">
        <p>The output directory had no files.</p>
      </Empty>
    );
  return (
    <>
      <div className="px-4 py-2">
        <input
          type="search"
          aria-label="Filter the files"
          placeholder="Filter by path"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className="input sm:max-w-80"
        />
      </div>
      <div className="overflow-x-auto">
        <table className="table" aria-label="Files">
          <thead>
            <tr>
              <th scope="col">Path</th>
              <th scope="col" className="text-right">
                Size
              </th>
              <th scope="col">SHA-256</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row) => (
              <tr key={row.path}>
                <td>
                  <span className="flex items-center" style={{ paddingInlineStart: row.depth * 16 }}>
                    {row.file ? (
                      <span className={`long font-mono text-mono ${filter ? '' : 'pl-6'}`}>
                        <Plain text={row.name} />
                        {row.file.mode === '0755' && <span className="text-ink-3"> executable</span>}
                      </span>
                    ) : (
                      <button
                        type="button"
                        aria-expanded={!closed.has(row.path)}
                        onClick={() => toggle(row.path)}
                        className="long flex min-h-6 items-center gap-2 text-left"
                      >
                        {closed.has(row.path) ? (
                          <ChevronRight size={16} aria-hidden />
                        ) : (
                          <ChevronDown size={16} aria-hidden />
                        )}
                        <span className="long font-mono text-mono font-bold">
                          <Plain text={row.name} />/
                        </span>
                        <span className="whitespace-nowrap text-ink-3">{plural(row.fileCount, 'file')}</span>
                      </button>
                    )}
                  </span>
                </td>
                <td className="text-right whitespace-nowrap tabular-nums">{bytes(row.byteSize)}</td>
                <td className="font-mono text-mono text-ink-3" title={row.file?.sha256}>
                  {row.file?.sha256.slice(0, 12)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <Empty title="No path has this text" />}
      {rows.length > most && (
        <div className="flex items-center gap-3 px-4 py-2">
          <Button onPress={() => setMost(most + STEP)}>Show more</Button>
          <span className="text-ink-3">{count(rows.length - most)} more</span>
        </div>
      )}
    </>
  );
}
