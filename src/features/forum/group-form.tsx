import { bounds } from '#contract/bounds.ts';
import { api } from '#src/platform/api.ts';
import { Form } from '#src/ui/form/form.tsx';
import type { Out } from '#contract/calls.ts';

export type Group = Out<'forumGroups'>['list'][number];

/** A group of the forum; without an id a new one. */
export const GroupForm = ({ group, onSaved }: { group: Partial<Group>; onSaved: () => void }) => (
  <Form
    draft={`forum-group.${group.id ?? 'new'}`}
    fields={[
      { name: 'name', kind: 'text', required: true, ...bounds.forumGroup },
      { name: 'color', kind: 'colour' },
      { name: 'sort', label: '排序', kind: 'number', ...bounds.sort, hint: '小的在前' },
    ]}
    initial={{
      name: group.name ?? '',
      color: group.color ?? '#2563eb',
      sort: group.sort ?? 100,
    }}
    onSubmit={async (values) => {
      await api.saveForumGroup(
        {
          ...(group.id === undefined ? {} : { id: group.id }),
          name: String(values['name'] ?? ''),
          color: String(values['color'] ?? '#2563eb'),
          sort: Number(values['sort'] ?? 100),
        },
        { quiet: true },
      );
      onSaved();
    }}
  />
);
