import { Page } from '../../ui/page.tsx';

export function AppsPage() {
  return <Page title="Apps">{null}</Page>;
}
