import { Page } from '../../ui/page.tsx';

export function BuildPage() {
  return <Page title="Build">{null}</Page>;
}
