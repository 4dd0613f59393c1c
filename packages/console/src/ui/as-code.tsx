/** A write as the same call by curl, the TypeScript client and the command line. */
import { Code } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { CopyButton } from './values.tsx';

export interface AsCodeProps {
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** From `/api`. */
  path: string;
  body?: unknown;
  /** The client's call: `client.threads.create('prj_…', …)`. A function is called when it is looked at. */
  ts: string | (() => string);
  /** The command: `headrace run "…"`; null if there is none. */
  cli?: string | null;
}

export function AsCode(props: AsCodeProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton label="Show as curl, TypeScript and command line" onPress={() => setOpen(true)}>
        <Code size={14} />
      </IconButton>
      <Dialog title="The same by code" wide isOpen={isOpen} onClose={() => setOpen(false)}>
        <Samples {...props} />
      </Dialog>
    </>
  );
}

/** Apart, for a long body is only written out while it is shown. */
function Samples(props: AsCodeProps) {
  return (
    <>
      <Sample name="curl" text={curlOf(props)} />
      <Sample name="TypeScript" text={typeof props.ts === 'function' ? props.ts() : props.ts} />
      {props.cli && <Sample name="Command line" text={props.cli} />}
    </>
  );
}

function Sample({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <div className="flex items-center justify-between">
        <span className="label">{name}</span>
        <CopyButton text={text} label={`Copy ${name}`} />
      </div>
      <pre tabIndex={0} aria-label={name} className="overflow-x-auto rounded bg-sunk p-2 font-mono text-mono">
        {text}
      </pre>
    </div>
  );
}

/** A text in single quotes of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const curlOf = ({ method, path, body }: AsCodeProps): string =>
  [
    `curl -X ${method} ${quoted(location.origin + path)}`,
    `  -H "x-api-key: $HEADRACE_KEY"`,
    `  -H "idempotency-key: $(uuidgen)"`,
    ...(body === undefined
      ? []
      : [`  -H 'content-type: application/json'`, `  -d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n');
