import { Page } from '../../ui/page.tsx';

export function SourcePage() {
  return <Page title="Source">{null}</Page>;
}
