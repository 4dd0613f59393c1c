/** A call as the same one by curl, the TypeScript client and the command line. */
import { useQuery } from '@tanstack/react-query';
import { Code } from 'lucide-react';
import { useState } from 'react';
import { appQuery } from '../api/queries.ts';
import { IconButton } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { appIdIn, directSample } from './direct-sample.ts';
import { quoted } from './quoted.ts';
import { CopyButton } from './values.tsx';

export { quoted };

export interface AsCodeProps {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** From `/api`. */
  path: string;
  body?: unknown;
  /** No key may do it. */
  isSession?: boolean;
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
function Samples({ ts, cli = null, isSession = false, ...rest }: AsCodeProps) {
  const appId = appIdIn(rest.path);
  const { data: app } = useQuery({ ...appQuery(appId ?? ''), enabled: appId !== null });
  const given = { ...rest, ts: typeof ts === 'function' ? ts() : ts, cli };
  const sample = app?.kind === 'direct' ? directSample(given) : given;
  return (
    <>
      <Sample name="curl" text={curlOf(sample, isSession)} />
      <Sample
        name="TypeScript"
        text={`${isSession ? '// Only with a session, not with a key.\n' : ''}${sample.ts}`}
      />
      {sample.cli && <Sample name="Command line" text={sample.cli} />}
    </>
  );
}

export function Sample({ name, text }: { name: string; text: string }) {
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

/** `$COOKIE` is the cookie that one gets by signing in. */
const curlOf = (
  { method, path, body }: Pick<AsCodeProps, 'path' | 'body'> & { method: string },
  isSession: boolean,
): string =>
  [
    `curl -X ${method} ${quoted(location.origin + path)}`,
    ...(isSession
      ? [`  -H "cookie: $COOKIE"`, `  -H ${quoted(`origin: ${location.origin}`)}`]
      : [`  -H "x-api-key: $HEADRACE_KEY"`]),
    ...(method === 'GET' ? [] : [`  -H "idempotency-key: $(uuidgen)"`]),
    ...(body === undefined
      ? []
      : [`  -H 'content-type: application/json'`, `  -d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n');
