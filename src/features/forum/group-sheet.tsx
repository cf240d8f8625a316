import { ChipDot } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { Act } from '#src/ui/act.tsx';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { useForumGroups } from '#src/widgets/editor/groups.ts';
import type { Out } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { useState } from 'react';
import css from './forum.module.css';
import { GroupForm } from './group-form.tsx';
import actCss from '#src/ui/act.module.css';

type Group = Out<'forumGroups'>['list'][number];

/** The groups of the forum: one is chosen; managers keep them. */
const GroupSheet = ({
  open,
  value,
  manager,
  onClose,
  onChoose,
}: {
  open: boolean;
  value: number | undefined;
  manager: boolean;
  onClose: () => void;
  onChoose: (id: number) => void;
}) => {
  const groups = useForumGroups();
  const [editing, setEditing] = useState<Partial<Group> | null>(null);
  const done = async (text: string) => {
    await groups.refetch();
    setEditing(null);
    toast(text, 'success');
  };
  const remove = async (group: Group) => {
    const sure = await confirmDialog({
      title: `删除分组“${group.name}”`,
      text: '其中的问题会归到默认分组。',
      ok: '删除',
      danger: true,
    });
    if (!sure) return;
    await api.delForumGroup({ id: group.id });
    await done('分组已删除');
  };
  return (
    <>
      <Sheet open={open} onClose={onClose} title="分组">
        <ul className={css.groups}>
          {groups.data?.map((group) => (
            <li key={group.id}>
              <button
                type="button"
                className={actCss.act}
                aria-current={group.id === value || undefined}
                onClick={() => {
                  onChoose(group.id);
                  onClose();
                }}
              >
                <ChipDot color={group.color} />
                {group.name}
                {group.id === value && <Icon name="check" size={18} />}
              </button>
              {manager && (
                <>
                  <Button
                    kind="ghost"
                    size="icon"
                    aria-label={`修改分组${group.name}`}
                    onClick={() => setEditing(group)}
                  >
                    <Icon name="edit" size={18} />
                  </Button>
                  {group.id !== limits.defaultGroup && (
                    <Button
                      kind="ghost"
                      size="icon"
                      aria-label={`删除分组${group.name}`}
                      onClick={() => void remove(group).catch(() => undefined)}
                    >
                      <Icon name="trash" size={18} />
                    </Button>
                  )}
                </>
              )}
            </li>
          ))}
        </ul>
        {manager && <Act icon="plus" label="新建分组" onClick={() => setEditing({})} />}
      </Sheet>
      <Sheet
        open={editing !== null}
        onClose={() => setEditing(null)}
        title={editing?.id === undefined ? '新建分组' : '修改分组'}
      >
        {editing && (
          <GroupForm
            key={editing.id ?? 'new'}
            group={editing}
            onSaved={() => void done('分组已保存')}
          />
        )}
      </Sheet>
    </>
  );
};

export default GroupSheet;
