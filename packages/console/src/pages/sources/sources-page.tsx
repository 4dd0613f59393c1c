import { Page } from '../../ui/page.tsx';

export function SourcesPage() {
  return <Page title="Sources">{null}</Page>;
}
