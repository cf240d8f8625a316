import { api } from '#src/platform/api.ts';
import { useShownModels } from '#src/platform/queries.ts';
import { Form } from '#src/ui/form/form.tsx';
import type { Field } from '#src/ui/form/field.ts';
import type { ApiKey } from '#contract/developer.ts';
import { limits } from '#contract/limits.ts';
import { useState } from 'react';
import { BoundsEditor, boundsIn, type TypedBound } from './key-bounds.tsx';

const lines = (value: unknown): string[] =>
  typeof value === 'string'
    ? value
        .split(/[\s,，;；、]+/)
        .map((each) => each.trim())
        .filter(Boolean)
    : [];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const fieldsFor = (models: readonly { name: string; label: string }[]): Field[] => [
  { name: 'name', kind: 'text', max: 40, placeholder: '给自己看的，如：博客助手' },
  {
    name: 'used_for',
    label: '用在哪里',
    kind: 'text',
    max: 200,
    placeholder: '哪台机器、哪个程序、谁在用',
  },
  {
    name: 'month_limit',
    label: '每月最多花费',
    kind: 'number',
    min: 1,
    max: 1_000_000_000_000,
    unit: 'token',
    hint: '余额 token；不填则不限，用完后这个 KEY 当月不能再调用',
  },
  {
    name: 'at_once',
    label: '同时进行的请求',
    kind: 'number',
    min: 1,
    max: 1000,
    unit: '个',
    hint: '不填则不限',
  },
  {
    name: 'call_tokens',
    label: '一次最多',
    kind: 'number',
    min: 64,
    max: limits.apiTokensRaised,
    unit: 'token',
    hint: `提问和回答合计；不填为 ${limits.apiTokens}，管理员给模型另有规定的，不能超过它`,
  },
  {
    name: 'models',
    label: '只能用这些模型',
    kind: 'many',
    options: models.map(({ name, label }) => ({ value: name, label })),
    hint: '不选则全部可用',
  },
  {
    name: 'addresses',
    label: '只能从这些地址调用',
    kind: 'long',
    lines: 2,
    mono: true,
    placeholder: '203.0.113.7 或 10.0.0.0/8，一行一个',
    hint: '不填则不限',
  },
  {
    name: 'log_bodies',
    label: '记下请求和回答的内容',
    kind: 'switch',
    hint: '在“调用记录”里看，30 天后删除；不打开只记用量',
  },
  { name: 'expires_at', label: '有效期到', kind: 'moment', hint: '不填则一直有效' },
];

/** What a key is called and bound to, when it is made or later; all of it may be left out. */
const KeyForm = ({
  row,
  onMade,
  onSaved,
}: {
  /** Left out: a new one. */
  row?: ApiKey | undefined;
  onMade: (key: string) => void;
  onSaved: () => void;
}) => {
  const models = useShownModels().data ?? [];
  const [bounds, setBounds] = useState<TypedBound[]>(
    () => row?.limits.map((each) => ({ ...each, amount: String(each.amount) })) ?? [],
  );
  return (
    <Form
      {...(row
        ? { initial: { ...row, limits: undefined, addresses: row.addresses.join('\n') } }
        : { draft: 'key' })}
      fields={fieldsFor(models)}
      submit={row ? '保存' : '创建'}
      onSubmit={async (values) => {
        const expires = text(values['expires_at']);
        const wished = {
          name: text(values['name']),
          used_for: text(values['used_for']),
          month_limit: count(values['month_limit']),
          at_once: count(values['at_once']),
          call_tokens: count(values['call_tokens']),
          limits: boundsIn(bounds),
          log_bodies: values['log_bodies'] === true,
          models: Array.isArray(values['models']) ? (values['models'] as string[]) : [],
          addresses: lines(values['addresses']),
        };
        const at = expires === '' ? null : new Date(expires).toISOString();
        if (!row) {
          const made = await api.genKey({ ...wished, expires_at: at }, { quiet: true });
          onMade(made.full_key);
          return;
        }
        // One that has passed is no wish for another.
        const same = at === row.expires_at;
        await api.updateKey(
          { id: row.id, ...wished, ...(same ? {} : { expires_at: at }) },
          { quiet: true },
        );
        onSaved();
      }}
    >
      <BoundsEditor value={bounds} onChange={setBounds} />
    </Form>
  );
};

export default KeyForm;
