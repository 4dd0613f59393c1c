import { Page } from '../../ui/page.tsx';

export function DiffPage() {
  return <Page title="Diff">{null}</Page>;
}
