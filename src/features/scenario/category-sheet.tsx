import { bounds } from '#contract/bounds.ts';
import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { Act } from '#src/ui/act.tsx';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { useState } from 'react';
import css from './scenario.module.css';

interface Category {
  id: number;
  name: string;
  sort: number;
}

/** The categories of scenarios, kept by managers. */
const CategorySheet = ({
  categories,
  onClose,
}: {
  categories: readonly Category[];
  onClose: () => void;
}) => {
  const [editing, setEditing] = useState<Partial<Category> | null>(null);
  const remove = async (category: Category) => {
    const sure = await confirmDelete({
      title: `删除分类“${category.name}”`,
      text: '只有没有场景的分类才能删除。',
    });
    if (!sure) return;
    await api.delScenarioCategory({ id: category.id });
    toast('分类已删除', 'success');
  };
  return (
    <>
      <Sheet open onClose={onClose} title="场景分类">
        <ul className={css.categories}>
          {categories.map((category) => (
            <li key={category.id}>
              <span>{category.name}</span>
              <Button
                kind="ghost"
                size="icon"
                aria-label={`修改分类${category.name}`}
                onClick={() => setEditing(category)}
              >
                <Icon name="edit" size={18} />
              </Button>
              <Button
                kind="ghost"
                size="icon"
                aria-label={`删除分类${category.name}`}
                onClick={() => void remove(category).catch(() => undefined)}
              >
                <Icon name="trash" size={18} />
              </Button>
            </li>
          ))}
        </ul>
        <Act icon="plus" label="新建分类" onClick={() => setEditing({})} />
      </Sheet>
      <Sheet
        open={editing !== null}
        onClose={() => setEditing(null)}
        title={editing?.id === undefined ? '新建分类' : '修改分类'}
      >
        {editing && (
          <Form
            key={editing.id ?? 'new'}
            draft={`scenario-category.${editing.id ?? 'new'}`}
            fields={[
              {
                name: 'name',
                kind: 'text',
                required: true,
                ...bounds.scenario.category,
              },
              {
                name: 'sort',
                label: '排序',
                kind: 'number',
                ...bounds.sort,
                hint: '小的在前',
              },
            ]}
            initial={{ name: editing.name ?? '', sort: editing.sort ?? 100 }}
            onSubmit={async (values) => {
              await api.saveScenarioCategory(
                {
                  ...(editing.id === undefined ? {} : { id: editing.id }),
                  name: String(values['name'] ?? ''),
                  sort: Number(values['sort'] ?? 100),
                },
                { quiet: true },
              );
              setEditing(null);
              toast('分类已保存', 'success');
            }}
          />
        )}
      </Sheet>
    </>
  );
};

export default CategorySheet;
