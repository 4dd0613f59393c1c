import { Page } from '../../ui/page.tsx';

export function ApplyPage() {
  return <Page title="Apply">{null}</Page>;
}
