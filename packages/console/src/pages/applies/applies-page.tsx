import { Page } from '../../ui/page.tsx';

export function AppliesPage() {
  return <Page title="Applies">{null}</Page>;
}
