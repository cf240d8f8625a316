import { api } from '@/platform/api.ts';
import { useChatModels } from '@/platform/queries.ts';
import { Form } from '@/ui/form/form.tsx';
import type { Field } from '@/ui/form/field.ts';

const lines = (value: unknown): string[] =>
  typeof value === 'string'
    ? value
        .split(/[\s,，;；、]+/)
        .map((each) => each.trim())
        .filter(Boolean)
    : [];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What a new key is called and bound to; all of it may be left out. */
const KeyForm = ({ onMade }: { onMade: (key: string) => void }) => {
  const models = useChatModels().data ?? [];
  const fields: Field[] = [
    { name: 'name', kind: 'text', max: 40, placeholder: '给自己看的，如：博客助手' },
    {
      name: 'month_limit',
      label: '每月最多花费',
      kind: 'number',
      min: 1,
      max: 1_000_000_000_000,
      unit: 'token',
      hint: '不填则不限；用完后这个 KEY 当月不能再调用',
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
    { name: 'expires_at', label: '有效期到', kind: 'moment', hint: '不填则一直有效' },
  ];
  return (
    <Form
      draft="key"
      fields={fields}
      submit="创建"
      onSubmit={async (values) => {
        const expires = text(values['expires_at']);
        const made = await api.genKey(
          {
            name: text(values['name']),
            month_limit:
              typeof values['month_limit'] === 'number' ? values['month_limit'] : undefined,
            models: Array.isArray(values['models']) ? (values['models'] as string[]) : [],
            addresses: lines(values['addresses']),
            expires_at: expires === '' ? undefined : new Date(expires).toISOString(),
          },
          { quiet: true },
        );
        onMade(made.full_key);
      }}
    />
  );
};

export default KeyForm;
