/** Languages that are highlighted, by the name of the file. */
export type Language =
  | 'javascript'
  | 'typescript'
  | 'jsx'
  | 'tsx'
  | 'css'
  | 'sass'
  | 'scss'
  | 'html'
  | 'json'
  | 'markdown'
  | 'python'
  | 'rust'
  | 'cpp'
  | 'java'
  | 'php'
  | 'go'
  | 'xml'
  | 'yaml';

const ENDINGS: Record<Language, string> = {
  javascript: 'js mjs cjs',
  typescript: 'ts mts cts',
  jsx: 'jsx',
  tsx: 'tsx',
  css: 'css less',
  sass: 'sass',
  scss: 'scss',
  html: 'html htm vue svelte astro',
  json: 'json jsonc json5 webmanifest map',
  markdown: 'md markdown mdx',
  python: 'py pyi',
  rust: 'rs',
  cpp: 'c h cc cpp cxx hh hpp hxx ino',
  java: 'java',
  php: 'php phtml',
  go: 'go',
  xml: 'xml svg xsd xsl plist rss csproj',
  yaml: 'yaml yml',
};

const BY_ENDING = new Map(
  Object.entries(ENDINGS).flatMap(([language, endings]) =>
    endings.split(' ').map((ending) => [ending, language as Language] as const),
  ),
);

/** Language of a path; null if it is not highlighted. */
export function languageOf(path: string): Language | null {
  const dot = path.lastIndexOf('.');
  if (dot < 0) return null;
  return BY_ENDING.get(path.slice(dot + 1).toLowerCase()) ?? null;
}
