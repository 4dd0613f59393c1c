/** Text with places to break where it has none itself. */
import { Fragment } from 'react';
import { Plain } from '../../code/plain.tsx';

const UNBROKEN = /\S{1000}/;

/** A line of one long word takes a browser seconds to lay out, minutes if it is long enough. */
export function Wrapped({ text }: { text: string }) {
  if (!UNBROKEN.test(text)) return <Plain text={text} />;
  return (text.match(/[\s\S]{1,500}/gu) ?? []).map((piece, at) => (
    <Fragment key={at}>
      <Plain text={piece} />
      <wbr />
    </Fragment>
  ));
}
