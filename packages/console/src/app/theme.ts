/** Light, dark, or as the system says. */
export type Theme = 'system' | 'light' | 'dark';

const KEPT = 'headrace:theme';

export function themeOf(): Theme {
  const kept = localStorage.getItem(KEPT);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEPT, theme);
  showTheme();
}

export function showTheme(): void {
  const theme = themeOf();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
