import { Backgrounds } from './background.ts';
import { bashTools } from './bash.ts';
import { edit } from './edit.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { read } from './read.ts';
import { search } from './search.ts';
import type { Tool } from './tool.ts';
import { write } from './write.ts';

/** The tools that every turn has. */
export const builtInTools = (): Tool[] => [
  read,
  write,
  edit,
  patch,
  list,
  search,
  ...bashTools(new Backgrounds()),
];
