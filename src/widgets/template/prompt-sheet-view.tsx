import { Tag } from '#src/ui/chip.tsx';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { toast } from '#src/platform/toast.ts';
import { Act } from '#src/ui/act.tsx';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { FilterField } from '#src/ui/filter-field.tsx';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import type { Out } from '#contract/calls.ts';
import { useDeferredValue, useState } from 'react';
import { ServerPrompts } from '#src/widgets/tool/server-things.tsx';
import { FillSheet } from './fill-sheet.tsx';
import css from './prompt-sheet.module.css';
import type { PromptSheetProps } from './prompt-sheet-props.ts';

/** An eye that is struck out. */
const hidePath =
  'M4 4l16 16M10 6a8.500 8.500 0 0 1 2-.2c5.500 0 9 6.200 9 6.200a15 15 0 0 1-2.500 3.200M6.500 7.500A15 15 0 0 0 3 12s3.500 6.200 9 6.200a8.700 8.700 0 0 0 4-1';

type Template = Out<'promptList'>['prompts'][number];

/** Offered with this model. */
const isFor = ({ attrs }: Template, model: string): boolean =>
  (attrs.include.length === 0 || attrs.include.includes(model)) && !attrs.exclude.includes(model);

/** One prompt: put into the box, changed, pinned, hidden. */
const PromptRow = ({
  template,
  type,
  onChoose,
  onEdit,
  onChanged,
}: {
  template: Template;
  type: PromptSheetProps['type'];
  onChoose: () => void;
  onEdit: () => void;
  onChanged: () => Promise<unknown>;
}) => {
  const { token } = useAuth();
  const mark = async (kind: 'top' | 'hide') => {
    const input = { id: template.id, type };
    await (kind === 'top' ? api.topPrompt(input) : api.hidePrompt(input));
    await onChanged();
  };
  return (
    <li data-hidden={template.hidden || undefined}>
      <button type="button" className={css.words} onClick={() => onChoose()}>
        <strong>
          {template.prompt_json.title}
          {template.top && <Tag>置顶</Tag>}
          {template.own && <Tag>我的</Tag>}
        </strong>
        <small>{template.prompt_json.content}</small>
      </button>
      {template.own && (
        <Button
          kind="ghost"
          size="icon"
          aria-label={`修改提示词${template.prompt_json.title}`}
          onClick={() => onEdit()}
        >
          <Icon name="edit" size={18} />
        </Button>
      )}
      {token !== '' && (
        <>
          <Button
            kind="ghost"
            size="icon"
            aria-pressed={template.top}
            aria-label={`${template.top ? '取消置顶' : '置顶'}${template.prompt_json.title}`}
            onClick={() => quietly(mark('top'))}
          >
            <Icon name="pin" size={18} />
          </Button>
          <Button
            kind="ghost"
            size="icon"
            aria-pressed={template.hidden}
            aria-label={`${template.hidden ? '不再隐藏' : '隐藏'}${template.prompt_json.title}`}
            onClick={() => quietly(mark('hide'))}
          >
            <PathIcon path={hidePath} size={18} />
          </Button>
        </>
      )}
    </li>
  );
};

/** Writes a prompt of one's own, or deletes it. */
const PromptForm = ({
  editing,
  type,
  onDone,
}: {
  editing: Partial<Template>;
  type: PromptSheetProps['type'];
  onDone: () => Promise<unknown>;
}) => {
  const remove = async () => {
    if (
      editing.id === undefined ||
      !(await confirmDelete({
        title: `删除提示词“${editing.prompt_json?.title ?? ''}”`,
        text: '删除后不能恢复。',
      }))
    )
      return;
    await api.delPrompt({ id: editing.id });
    await onDone();
    toast('提示词已删除', 'success');
  };
  return (
    <>
      <Form
        draft={`prompt.${editing.id ?? 'new'}`}
        fields={[
          { name: 'title', label: '名称', kind: 'text', required: true, min: 1, max: 50 },
          {
            name: 'content',
            label: '内容',
            kind: 'long',
            required: true,
            min: 1,
            max: 4000,
            lines: 6,
            hint: '{{名字}} 会变成一个填空',
          },
        ]}
        initial={{
          title: editing.prompt_json?.title ?? '',
          content: editing.prompt_json?.content ?? '',
        }}
        onSubmit={async (values) => {
          await api.savePrompt(
            {
              ...(editing.id === undefined ? {} : { id: editing.id }),
              type,
              prompt_json: {
                title: String(values['title'] ?? ''),
                content: String(values['content'] ?? ''),
              },
            },
            { quiet: true },
          );
          await onDone();
          toast('提示词已保存', 'success');
        }}
      />
      {editing.id !== undefined && (
        <Button kind="danger" onClick={() => quietly(remove())}>
          删除提示词
        </Button>
      )}
    </>
  );
};

const PromptSheetView = ({ open, type, model, server, onClose, onChoose }: PromptSheetProps) => {
  const { token } = useAuth();
  const [words, setWords] = useState('');
  const [all, setAll] = useState(false);
  const leave = () => {
    setWords('');
    onClose();
  };
  const [filling, setFilling] = useState<{ name: string; text: string } | null>(null);
  const [editing, setEditing] = useState<Partial<Template> | null>(null);
  const list = useCall('promptList', { type }, { enabled: open });
  const query = useDeferredValue(words.trim().toLowerCase());
  const fitting = (list.data?.prompts ?? []).filter(
    (each) =>
      isFor(each, model) &&
      (all || !each.hidden) &&
      `${each.prompt_json.title} ${each.prompt_json.content}`.toLowerCase().includes(query),
  );
  const take = (text: string) => {
    setFilling(null);
    onChoose(text);
    leave();
  };
  const choose = ({ prompt_json: { title, content, vars } }: Template) => {
    if (vars.length > 0) setFilling({ name: title, text: content });
    else take(content);
  };
  const hasHidden = (list.data?.prompts ?? []).some(({ hidden }) => hidden);
  return (
    <>
      <Sheet open={open} onClose={leave} title="提示词">
        <FilterField label="查找提示词" value={words} onChange={setWords} />
        {hasHidden && <SwitchField label="显示全部" checked={all} onChange={setAll} />}
        {list.isPending && <Skeleton lines={8} />}
        {list.isError && !list.data && <QueryFailed query={list} />}
        {list.data && fitting.length === 0 && (
          <EmptyState icon="search" text="没有这样的提示词，换个词试试。" />
        )}
        {open && type === 0 && query === '' && <ServerPrompts first={server} onChoose={take} />}
        <ul className={css.list} aria-label="提示词">
          {fitting.map((template) => (
            <PromptRow
              key={template.id}
              template={template}
              type={type}
              onChoose={() => choose(template)}
              onEdit={() => setEditing(template)}
              onChanged={() => list.refetch()}
            />
          ))}
        </ul>
        {token !== '' && <Act icon="plus" label="新建提示词" onClick={() => setEditing({})} />}
      </Sheet>
      <FillSheet
        template={filling}
        action="放进输入框"
        onClose={() => setFilling(null)}
        onDone={take}
      />
      <Sheet
        open={editing !== null}
        onClose={() => setEditing(null)}
        title={editing?.id === undefined ? '新建提示词' : '修改提示词'}
      >
        {editing && (
          <PromptForm
            key={editing.id ?? 'new'}
            editing={editing}
            type={type}
            onDone={async () => {
              setEditing(null);
              await list.refetch();
            }}
          />
        )}
      </Sheet>
    </>
  );
};

export default PromptSheetView;
