import { Page } from '../../ui/page.tsx';

export function PreviewPage() {
  return <Page title="Preview">{null}</Page>;
}
