import { parentPort } from 'node:worker_threads';
import { Gitignore, TooManySteps } from './gitignore.ts';
import type { IgnoreAnswer, IgnoreQuestion } from './ignore-question.ts';

parentPort!.on('message', (question: IgnoreQuestion) => parentPort!.postMessage(answer(question), []));

function answer({ files, paths }: IgnoreQuestion): IgnoreAnswer {
  const ignore = new Gitignore();
  const names = paths.split('\0').slice(0, -1);
  try {
    for (const { folder, text } of files) ignore.add(folder, text);
    return {
      ignored: Uint8Array.from(names, (name) =>
        Number(name.endsWith('/') ? ignore.ignoresFolder(name.slice(0, -1)) : ignore.ignores(name)),
      ),
    };
  } catch (error) {
    if (error instanceof TooManySteps) return { refused: error.message };
    throw error;
  }
}
