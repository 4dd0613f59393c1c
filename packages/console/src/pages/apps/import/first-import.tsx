import type { App } from '@headrace/client';
import { Empty } from '../../../ui/states.tsx';

/** For an app without a head. */
export function FirstImport({ app }: { app: App }) {
  return <Empty title={`${app.name} has no files yet`}>Import a folder to begin.</Empty>;
}
