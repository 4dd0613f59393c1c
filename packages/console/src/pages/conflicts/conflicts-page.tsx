import { Page } from '../../ui/page.tsx';

export function ConflictsPage() {
  return <Page title="Apply">{null}</Page>;
}
