import { readJson } from '#src/platform/read-json.ts';
import { bounds } from '#contract/bounds.ts';
import { api } from '#src/platform/api.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import type { Field, FormValues } from '#src/ui/form/field.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { FillSheet } from '#src/widgets/template/fill-sheet.tsx';
import { varsOf } from '#src/widgets/template/template-vars.ts';
import { useState } from 'react';
import css from './scenario.module.css';
import type { Scenario } from './scenario.ts';

type Categories = readonly { id: number; name: string }[];

/** What was written and not saved: it outlasts a trial of it, which leads to a conversation. */
const readWritten = (key: string): FormValues | null =>
  readJson<FormValues | null>(readDraft(key), null);

/** @param own it is offered to everybody; a manager shows theirs at once */
const fieldsOf = (own: boolean, categories: Categories): readonly Field[] => [
  { name: 'name', kind: 'text', required: true, ...bounds.scenario.name },
  {
    name: 'category',
    kind: 'choice',
    required: true,
    options: categories.map((each) => ({ value: String(each.id), label: each.name })),
  },
  { name: 'desc_', label: '一句话说明', kind: 'text', ...bounds.scenario.description },
  {
    name: 'prompt',
    kind: 'long',
    required: true,
    ...bounds.scenario.prompt,
    lines: 6,
    hint: '{{input}} 代表使用时写的内容；其他 {{名字}} 会变成一个填空',
  },
  {
    name: 'sample',
    label: '结果示例',
    kind: 'long',
    ...bounds.scenario.sample,
    lines: 3,
    hint: '别人开始之前看得到，可以用 Markdown；不填就不显示',
  },
  { name: 'color', kind: 'colour' },
  ...(own
    ? [
        {
          name: 'publish',
          label: '提交给大家使用',
          kind: 'switch',
          hint: '管理员通过后，所有人都能用；改动后需要重新审核',
        } satisfies Field,
      ]
    : [{ name: 'display', label: '展示', kind: 'switch' } satisfies Field]),
];

/** What was written, as it is saved. */
const wordsOf = (values: FormValues) => ({
  name: String(values['name'] ?? ''),
  prompt: String(values['prompt'] ?? ''),
  desc_: String(values['desc_'] ?? ''),
  sample: String(values['sample'] ?? ''),
  color: String(values['color'] ?? '#2563eb'),
  category: Number(values['category']),
});

/** Lets a manager pass what was offered, or give it back with a reason. */
const Judge = ({
  onJudge,
}: {
  onJudge: (state: 'public' | 'private', reason?: string) => Promise<void>;
}) => (
  <section className={css.judge} aria-label="审核">
    <Button kind="primary" onClick={() => void onJudge('public').catch(() => undefined)}>
      通过
    </Button>
    <Form
      fields={[
        {
          name: 'reason',
          label: '退回的原因（作者会看到）',
          kind: 'text',
          required: true,
          ...bounds.order.reason,
        },
      ]}
      submit="退回"
      onSubmit={({ reason }) => onJudge('private', String(reason))}
    />
  </section>
);

/** Writes a scenario: one's own, which may be offered to everybody, or as a manager any. */
const ScenarioEditor = ({
  scenario,
  categories,
  manager,
  me,
  onTry,
  onClose,
}: {
  /** Empty: a new one. */
  scenario: Partial<Scenario>;
  categories: Categories;
  manager: boolean;
  me: number | undefined;
  /** Tries the words in a session, before they are saved. */
  onTry: (filled: string) => void;
  onClose: () => void;
}) => {
  const { id } = scenario;
  const own = id === undefined ? !manager : scenario.user_id === me;
  const [trying, setTrying] = useState<{ name: string; text: string } | null>(null);
  const draft = `scenario:${id ?? 'new'}`;
  const [written, setWritten] = useState(() => readWritten(draft));
  const forget = () => {
    writeDraft(draft, '');
    setWritten(null);
  };
  const done = (text: string) => {
    forget();
    toast(text, 'success');
    onClose();
  };
  const remove = async () => {
    if (
      id === undefined ||
      !(await confirmDelete({
        title: `删除场景“${scenario.name}”`,
        text: '用它开始的会话不受影响。',
      }))
    )
      return;
    await (own ? api.delScenario({ id }) : api.removeScenario({ id }));
    done('场景已删除');
  };
  const judge = async (state: 'public' | 'private', reason?: string) => {
    const { name = '', prompt = '', desc_ = '', sample = '', color, category = 0 } = scenario;
    const words = { id, name, prompt, desc_, sample, color, category };
    await api.manageScenario({ ...words, state, reason, display: 1 });
    done(state === 'public' ? '已通过' : '已退回');
  };
  return (
    <>
      <Sheet open onClose={onClose} title={id === undefined ? '新建场景' : '修改场景'}>
        {scenario.rejection && <p className={css.rejection}>被退回：{scenario.rejection}</p>}
        {written && (
          <p className={css.note} role="status">
            已恢复上次没有保存的内容
            <Button kind="ghost" size="small" onClick={forget}>
              {id === undefined ? '重新写' : '换回原文'}
            </Button>
          </p>
        )}
        <Form
          key={written ? 'written' : 'saved'}
          fields={fieldsOf(own, categories)}
          onChange={(values) => writeDraft(draft, JSON.stringify(values))}
          initial={{
            name: scenario.name ?? '',
            category: String(scenario.category ?? categories[0]?.id ?? ''),
            desc_: scenario.desc_ ?? '',
            prompt: scenario.prompt ?? '',
            sample: scenario.sample ?? '',
            color: scenario.color ?? '#2563eb',
            publish: scenario.state === 'pending' || (own && scenario.state === 'public'),
            display: scenario.display !== 0,
            ...written,
          }}
          onSubmit={async (values) => {
            const words = { ...(id === undefined ? {} : { id }), ...wordsOf(values) };
            const options = { quiet: true };
            if (own)
              await api.saveScenario({ ...words, publish: values['publish'] ? 1 : 0 }, options);
            else
              await api.manageScenario({ ...words, display: values['display'] ? 1 : 0 }, options);
            done('场景已保存');
          }}
          renderExtra={(values) => {
            const text = String(values['prompt'] ?? '').trim();
            return (
              <Button
                disabled={text === ''}
                onClick={() => {
                  if (varsOf(text).length === 0) onTry(text);
                  else setTrying({ name: '试一下', text });
                }}
              >
                试一下
              </Button>
            );
          }}
        />
        {manager && scenario.state === 'pending' && <Judge onJudge={judge} />}
        {id !== undefined && (
          <Button kind="danger" onClick={() => void remove().catch(() => undefined)}>
            删除场景
          </Button>
        )}
      </Sheet>
      <FillSheet
        template={trying}
        action="发送"
        onClose={() => setTrying(null)}
        onDone={(filled) => onTry(filled)}
      />
    </>
  );
};

export default ScenarioEditor;
