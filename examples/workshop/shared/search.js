import { words } from './text.js';

// A hit in the name says more than one in the description. Whole words beat prefixes:
// "saw" must list the saws before the "sawhorse".
const WEIGHTS = { name: 10, tags: 6, brand: 4, description: 1 };
const PREFIX_FACTOR = 0.5;

function scoreWord(query, candidates) {
  let best = 0;
  for (const candidate of candidates) {
    if (candidate === query) return 1;
    if (query.length >= 2 && candidate.startsWith(query)) best = PREFIX_FACTOR;
  }
  return best;
}

/** Relevance of a tool for a query; 0 unless every word of the query is found somewhere. */
export function scoreTool(tool, queryWords) {
  const fields = Object.entries(WEIGHTS).map(([field, weight]) => {
    const value = tool[field] ?? '';
    return [words(Array.isArray(value) ? value.join(' ') : value), weight];
  });
  let total = 0;
  for (const query of queryWords) {
    const score = Math.max(...fields.map(([found, weight]) => weight * scoreWord(query, found)));
    if (score === 0) return 0;
    total += score;
  }
  return total;
}

/** Tools that match `text`, best first; ties by name, so that results never jump about. */
export function searchTools(tools, text) {
  const queryWords = words(text);
  if (queryWords.length === 0) return [...tools];
  return tools
    .map((tool) => ({ tool, score: scoreTool(tool, queryWords) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}
