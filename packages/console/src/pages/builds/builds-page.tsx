import { Page } from '../../ui/page.tsx';

export function BuildsPage() {
  return <Page title="Builds">{null}</Page>;
}
