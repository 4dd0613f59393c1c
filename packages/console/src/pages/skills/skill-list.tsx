import type { Skill } from '@headrace/client';
import { directForm } from '../../api/direct-form.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { bytes, plural, Time } from '../../ui/values.tsx';
import { ORGANIZATION } from './level.ts';
import type { Level } from './level.ts';

interface ListProps {
  level: Level;
  /** By name. */
  skills: readonly Skill[];
  /** Names of the organization's skills, where they are known. */
  hides: ReadonlySet<string>;
  mayChange: boolean;
  onAsk: (what: 'read' | 'replace' | 'delete', skill: Skill) => void;
}

export function SkillList({ skills, ...props }: ListProps) {
  return (
    <ul aria-label="Skills" className="border-t border-line">
      {skills.map((skill) => (
        <Row key={skill.id} skill={skill} {...props} />
      ))}
    </ul>
  );
}

function Row({ level, skill, hides, mayChange, onAsk }: Omit<ListProps, 'skills'> & { skill: Skill }) {
  const { name, description, fileCount, byteSize, updatedAt } = skill;
  const isOwn = level.appId === null || skill.level === 'app';
  const place = isOwn
    ? hides.has(name)
      ? `the ${level.word}’s, hides the organization’s`
      : `the ${level.word}’s`
    : 'the organization’s';
  return (
    <li className="row flex-wrap gap-y-0 py-1 md:flex-nowrap">
      <div className="min-w-0 flex-1 basis-60">
        <p className="long font-mono text-mono">{name}</p>
        <p className="long line-clamp-3 text-ink-2" title={description}>
          <Plain text={description} />
        </p>
      </div>
      <p className="text-12 text-ink-2 max-md:basis-full md:w-48">
        {plural(fileCount, 'file')}, {bytes(byteSize)}
        {level.appId !== null && (
          <span className={`md:block ${isOwn ? 'text-ink-3' : 'text-water'}`}>
            <span className="md:hidden">; </span>
            {place}
          </span>
        )}
      </p>
      <span className="text-12 text-ink-3 max-md:hidden md:w-20">
        <Time at={updatedAt} />
      </span>
      <span className="-ml-2.5 flex flex-wrap md:-mr-2.5 md:ml-0 md:w-72 md:justify-end">
        <Button kind="quiet" data-row aria-label={`Read ${name}`} onPress={() => onAsk('read', skill)}>
          Read
        </Button>
        <a
          className="button"
          data-kind="quiet"
          aria-label={`Save ${name}.tar.gz`}
          href={directForm(`${(isOwn ? level : ORGANIZATION).path(name)}/archive`)}
          download={`${name}.tar.gz`}
        >
          .tar.gz
        </a>
        {isOwn && mayChange && (
          <>
            <Button kind="quiet" aria-label={`Replace ${name}`} onPress={() => onAsk('replace', skill)}>
              Replace
            </Button>
            <Button kind="quiet" aria-label={`Delete ${name}`} onPress={() => onAsk('delete', skill)}>
              Delete
            </Button>
          </>
        )}
      </span>
    </li>
  );
}
