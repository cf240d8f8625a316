import type { ToolServer } from '#contract/tool-server.ts';
import { api } from '#src/platform/api.ts';
import type { Field, FormValues } from '#src/ui/form/field.ts';
import { Form } from '#src/ui/form/form.tsx';

const advanced = ({ advanced: on }: FormValues): boolean => on === true;

const fieldsOf = (server: ToolServer | null, manager: boolean): readonly Field[] => [
  { name: 'name', label: '名称', kind: 'text', required: true, max: 40 },
  {
    name: 'url',
    label: '地址',
    kind: 'text',
    required: true,
    max: 500,
    placeholder: 'https://example.com/mcp',
    hint: manager ? '' : '要是公网上的地址，端口 80 或 443',
  },
  {
    name: 'secret',
    label: '令牌',
    kind: 'password',
    max: 4000,
    placeholder: server?.has_secret ? '不改就留空' : '没有就留空',
    hint: '加密保存，不会再显示；只发给上面的地址',
  },
  {
    name: 'header',
    label: '放在哪个请求头',
    kind: 'text',
    max: 60,
    hint: 'Authorization 会写成 Bearer 令牌',
  },
  ...(manager && server === null
    ? [{ name: 'shared', label: '给所有人用', kind: 'switch' } as const]
    : []),
  {
    name: 'more',
    label: '资源与提示词',
    kind: 'switch',
    hint: manager
      ? '在 ＋ 里能选它的资源，在 / 里能用它的提示词；给所有人用的，所有人都能读到'
      : '在 ＋ 里能选它的资源，在 / 里能用它的提示词',
  },
  {
    name: 'advanced',
    label: '高级',
    kind: 'switch',
    hint: '它要授权，又不让应用自己登记时才用',
  },
  {
    name: 'client_id',
    label: '应用编号',
    kind: 'text',
    max: 500,
    placeholder: 'client id',
    hint: `在它那里登记一个应用，回调地址填 ${window.location.origin}/tools/authorized，把它给的编号填在这里`,
    when: advanced,
  },
  {
    name: 'client_secret',
    label: '应用密钥',
    kind: 'password',
    max: 1000,
    placeholder: server?.has_client_secret ? '不改就留空' : '没有就留空',
    hint: '加密保存，不会再显示；只发给它授权的地方',
    when: advanced,
  },
  ...(server === null ? [] : [{ name: 'enabled', label: '启用', kind: 'switch' } as const]),
];

/** A server's address and token. */
export const ToolServerForm = ({
  server,
  manager,
  onSaved,
}: {
  /** Null: a new one. */
  server: ToolServer | null;
  manager: boolean;
  onSaved: (id: number) => void;
}) => (
  <Form
    fields={fieldsOf(server, manager)}
    initial={{
      name: server?.name ?? '',
      url: server?.url ?? '',
      header: server?.header ?? 'Authorization',
      shared: false,
      more: server?.more ?? false,
      advanced: (server?.client_id ?? '') !== '',
      client_id: server?.client_id ?? '',
      enabled: server?.enabled ?? true,
    }}
    submit={server === null ? '添加并检查' : '保存并检查'}
    onSubmit={async (sent) => {
      const { id } = await api.saveToolServer(
        {
          ...(server === null ? {} : { id: server.id }),
          name: String(sent['name']),
          url: String(sent['url']).trim(),
          header: String(sent['header'] || 'Authorization').trim(),
          ...(sent['secret'] ? { secret: String(sent['secret']) } : {}),
          client_id: String(sent['client_id'] ?? server?.client_id ?? '').trim(),
          ...(sent['client_secret'] ? { client_secret: String(sent['client_secret']) } : {}),
          shared: server === null ? sent['shared'] === true : server.shared,
          enabled: sent['enabled'] !== false,
          more: sent['more'] === true,
        },
        { quiet: true },
      );
      onSaved(id);
    }}
  />
);
