/** Skills: folders that agents read when they need them, of one app and of all. */
import type { Skill } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { organizationSkillsQuery, skillsQuery } from '../../api/queries.ts';
import { useAppWord } from '../../api/app-word.ts';
import { useIsAdmin, useMay } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { DeleteSkill } from './delete-skill.tsx';
import { levelOfApp, ORGANIZATION } from './level.ts';
import type { Level } from './level.ts';
import { ReadSkill } from './read-skill.tsx';
import { SkillList } from './skill-list.tsx';
import { SkillUpload } from './skill-upload.tsx';

const route = getRouteApi('/signed-in/apps/$appId/skills');
const NONE: Skill[] = [];

/** Of one app: its own, and for owners and admins the organization's that hold in it. */
export function AppSkillsPage() {
  const { appId } = route.useParams();
  const isAdmin = useIsAdmin();
  const word = useAppWord();
  const mayChange = useMay('project:update');
  const skills = useQuery(skillsQuery(appId));
  const organization = useQuery({ ...organizationSkillsQuery(), enabled: isAdmin });
  return (
    <Skills
      key={appId}
      title="Skills"
      level={levelOfApp(appId, word)}
      query={skills}
      organization={organization.data?.items ?? NONE}
      mayChange={mayChange}
    >
      Folders that the {word}’s agents read when they need them. A skill of the {word} hides the
      organization’s of its name.{' '}
      {isAdmin ? (
        <Link to="/organization/skills" className="link">
          The organization’s skills
        </Link>
      ) : (
        'Owners and admins set the organization’s.'
      )}
    </Skills>
  );
}

/** Of all apps. */
export function OrganizationSkillsPage() {
  const skills = useQuery(organizationSkillsQuery());
  return (
    <Skills
      title="Skills of the organization"
      level={ORGANIZATION}
      query={skills}
      organization={NONE}
      mayChange={skills.data !== undefined}
    >
      The agents of every app and project have them, unless it has a skill of the same name.
    </Skills>
  );
}

type Over = { is: 'new' } | { is: 'read' | 'replace' | 'delete'; skill: Skill };

const HEADINGS = { read: 'Skill', replace: 'Replace', delete: 'Delete' } as const;

function Skills({
  title,
  level,
  query,
  organization,
  mayChange,
  children,
}: {
  title: string;
  level: Level;
  query: UseQueryResult<{ items: Skill[] }>;
  organization: readonly Skill[];
  mayChange: boolean;
  children: ReactNode;
}) {
  const [over, setOver] = useState<Over | null>(null);
  const close = () => setOver(null);
  const add = () => setOver({ is: 'new' });
  useKeys(mayChange ? [{ keys: 'n', does: 'New skill', run: add }] : []);
  const own = query.data?.items ?? NONE;
  const shared = new Map(organization.map((skill) => [skill.name, skill]));
  return (
    <Page
      title={title}
      actions={
        mayChange && (
          <Button kind="primary" onPress={add}>
            New skill
          </Button>
        )
      }
    >
      <p className="max-w-[72ch] px-4 pb-3 text-ink-2">{children}</p>
      <Shown query={query}>
        {({ items }) => {
          const names = new Set(items.map(({ name }) => name));
          const shown = [...items, ...organization.filter(({ name }) => !names.has(name))];
          if (shown.length === 0)
            return (
              <Empty title="No skills yet">
                <p>
                  A skill is a folder with a SKILL.md, which says what it is for and how to do it, and
                  whatever scripts and templates that needs.
                </p>
                {mayChange && <Button onPress={add}>Add the first skill</Button>}
              </Empty>
            );
          return (
            <SkillList
              level={level}
              skills={shown.toSorted((a, b) => (a.name < b.name ? -1 : 1))}
              hides={new Set(shared.keys())}
              mayChange={mayChange}
              onAsk={(is, skill) => setOver({ is, skill })}
            />
          );
        }}
      </Shown>
      <Dialog
        title={over === null || over.is === 'new' ? 'New skill' : `${HEADINGS[over.is]} ${over.skill.name}`}
        wide={over?.is !== 'delete'}
        isOpen={over !== null}
        onClose={close}
      >
        {over?.is === 'new' && <SkillUpload level={level} own={own} replaced={null} onClose={close} />}
        {over?.is === 'replace' && (
          <SkillUpload level={level} own={own} replaced={over.skill} onClose={close} />
        )}
        {over?.is === 'read' && (
          <ReadSkill level={over.skill.level === 'app' ? level : ORGANIZATION} skill={over.skill} />
        )}
        {over?.is === 'delete' && (
          <DeleteSkill
            level={level}
            skill={over.skill}
            isBared={shared.has(over.skill.name)}
            onClose={close}
          />
        )}
      </Dialog>
    </Page>
  );
}
