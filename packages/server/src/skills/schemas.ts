/** Skills as the API takes and shows them. */
import Type from 'typebox';
import { Body, Enum, Id, Sha256, Text, Time } from '../http/schemas.ts';
import { FilesInput } from '../sources/index.ts';

/** As the document shows it; sources/import/skill.ts checks it in a worker. */
export const NewSkill = Body({
  files: {
    ...FilesInput,
    maxItems: 200,
    description: 'All its files, at most 200 and 4 MiB in all; `SKILL.md` is at the top.',
    examples: [
      [
        {
          path: 'SKILL.md',
          content:
            '---\nname: release-notes\ndescription: How to write release notes.\n---\n\nOne line a change.\n',
        },
      ],
    ],
  } as typeof FilesInput,
});

export const Skill = Type.Object({
  id: Id('skl'),
  name: Text('release-notes'),
  description: Text('How to write release notes.', { description: 'From the front matter of `SKILL.md`.' }),
  level: Enum(['organization', 'app'], { description: 'The level that it is set at.' }),
  fileCount: Type.Integer({ minimum: 1, examples: [3] }),
  byteSize: Type.Integer({ minimum: 0, examples: [1420] }),
  sha256: {
    ...Sha256,
    description: "Of its files, as a source's.",
  },
  createdAt: Time,
  updatedAt: Time,
});

export const ARCHIVE = {
  200: {
    content: { 'application/gzip': { schema: { type: 'string', contentMediaType: 'application/gzip' } } },
    description: 'A tar.gz of the files.',
  },
  304: { content: {}, description: 'Not modified: the caller has this archive.' },
};
