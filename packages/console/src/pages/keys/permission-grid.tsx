import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/fields.tsx';
import { ACTIONS, has, isSame, PRESETS, RESOURCES, withAction } from './permissions.ts';
import type { Permissions } from './permissions.ts';

/** Resources by actions, with usual choices above. On a small screen the actions of a resource wrap below it. */
export function PermissionGrid({
  value,
  onChange,
  fault,
}: {
  value: Permissions;
  onChange: (value: Permissions) => void;
  fault: string | null;
}) {
  return (
    <div role="group" aria-label="Permissions" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="label mr-2">Permissions</span>
        {PRESETS.map(({ text, permissions }) => (
          <Button
            key={text}
            kind="quiet"
            aria-pressed={isSame(value, permissions)}
            onPress={() => onChange(permissions)}
          >
            {text}
          </Button>
        ))}
      </div>
      <div className="border-t border-line">
        {RESOURCES.map(({ id, text, actions }) => {
          const on = actions.filter((action) => has(value, id, action)).length;
          return (
            <div
              key={id}
              role="group"
              aria-label={text}
              className="flex flex-wrap gap-x-4 border-b border-line py-0.5 md:grid md:grid-cols-[160px_repeat(7,minmax(0,1fr))]"
            >
              <span className="flex max-md:basis-full">
                <Checkbox
                  aria-label={`${text}: all`}
                  isSelected={on === actions.length}
                  isIndeterminate={on > 0 && on < actions.length}
                  onChange={(isOn) => onChange(withAction(value, { resource: id, actions, isOn }))}
                >
                  <b>{text}</b>
                </Checkbox>
              </span>
              {ACTIONS.map((action) =>
                actions.includes(action) ? (
                  <Checkbox
                    key={action}
                    isSelected={has(value, id, action)}
                    onChange={(isOn) =>
                      onChange(withAction(value, { resource: id, actions: [action], isOn }))
                    }
                  >
                    {action}
                  </Checkbox>
                ) : (
                  <span key={action} className="max-md:hidden" />
                ),
              )}
            </div>
          );
        })}
      </div>
      {fault && (
        <p role="alert" className="text-12 text-fail">
          {fault}
        </p>
      )}
    </div>
  );
}
