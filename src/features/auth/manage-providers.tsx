import '#src/platform/late-calls.ts';
import type { ManagedProvider, ProviderKind } from '#contract/sign-in.ts';
import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { copyText } from '#src/platform/copy.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { Tag } from '#src/ui/chip.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import type { Field, FormValues } from '#src/ui/form/field.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { useState } from 'react';
import css from './manage-sign-in.module.css';

const kinds: readonly { value: ProviderKind; label: string }[] = [
  { value: 'oidc', label: 'OpenID Connect' },
  { value: 'wecom', label: '企业微信' },
  { value: 'feishu', label: '飞书' },
  { value: 'dingtalk', label: '钉钉' },
  { value: 'wechat', label: '微信开放平台' },
];
const labelOf = (kind: string): string => kinds.find(({ value }) => value === kind)?.label ?? kind;

/** What each service calls the two that it gives out. */
const ids: Record<ProviderKind, readonly [id: string, secret: string]> = {
  oidc: ['client_id', 'client_secret'],
  wecom: ['企业 ID（CorpID）', '应用的 Secret'],
  feishu: ['App ID', 'App Secret'],
  dingtalk: ['Client ID（AppKey）', 'Client Secret（AppSecret）'],
  wechat: ['AppID', 'AppSecret'],
};

const isOidc = (values: FormValues): boolean => values['kind'] === 'oidc';

const fieldsFor = (kind: ProviderKind, saved: ManagedProvider | undefined): Field[] => [
  ...(saved ? [] : [{ name: 'kind', kind: 'choice' as const, required: true, options: kinds }]),
  {
    name: 'name',
    kind: 'text',
    required: true,
    max: 30,
    hint: '登录页上写作“用…登录”',
  },
  {
    name: 'issuer',
    label: kind === 'oidc' ? '颁发者的地址（issuer）' : '接口的地址',
    kind: 'text',
    max: 200,
    required: kind === 'oidc',
    placeholder: kind === 'oidc' ? 'https://id.example.com' : '通常不用填，私有部署时才填',
    hint: saved ? '改了之后，已经关联的账号要重新关联' : undefined,
  },
  { name: 'client_id', label: ids[kind][0], kind: 'text', required: true, max: 200 },
  {
    name: 'client_secret',
    label: ids[kind][1],
    kind: 'password',
    max: 500,
    hint: saved?.has_secret ? '已经保存，不填就不改' : undefined,
  },
  { name: 'agent_id', kind: 'text', max: 100, when: (values) => values['kind'] === 'wecom' },
  {
    name: 'scope',
    label: '要的权限（scope）',
    kind: 'text',
    max: 200,
    placeholder: 'openid profile',
    when: isOidc,
  },
  { name: 'enabled', label: '打开', kind: 'switch' },
];

const ProviderForm = ({
  saved,
  onSaved,
}: {
  saved: ManagedProvider | undefined;
  onSaved: () => void;
}) => {
  const [kind, setKind] = useState<ProviderKind>(saved?.kind ?? 'oidc');
  const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');
  return (
    <Form
      fields={fieldsFor(kind, saved)}
      initial={{
        ...(saved ?? { kind: 'oidc' }),
        enabled: saved ? saved.enabled === 1 : true,
      }}
      onChange={(values) => setKind(values['kind'] as ProviderKind)}
      onSubmit={async (values) => {
        await api.saveProvider(
          {
            ...(saved ? { id: saved.id } : {}),
            kind,
            name: text(values['name']),
            issuer: text(values['issuer']),
            client_id: text(values['client_id']),
            client_secret: text(values['client_secret']) || undefined,
            agent_id: text(values['agent_id']),
            scope: text(values['scope']),
            enabled: values['enabled'] === true ? 1 : 0,
          },
          { quiet: true },
        );
        toast('已保存', 'success');
        onSaved();
      }}
    />
  );
};

/** Services whose accounts people sign in with. */
export const ManageProviders = ({ providers }: { providers: readonly ManagedProvider[] }) => {
  const [open, setOpen] = useState<ManagedProvider | 'new'>();
  const remove = async ({ id, name, people }: ManagedProvider) => {
    const sure = await confirmDialog({
      title: `删除“${name}”`,
      text: `${people} 人的关联随之解除，他们要用别的方式登录。`,
      ok: '删除',
      danger: true,
    });
    if (sure) await attempt(() => api.delProvider({ id }), '已删除');
  };
  return (
    <section className={`card ${css.part}`}>
      <h2>用别处的账号登录</h2>
      <p>
        任何 OpenID Connect
        服务，以及企业微信、飞书、钉钉、微信开放平台。只按对方给的编号认人，从不按邮箱认；关联要先登录这里的账号。
      </p>
      {providers.length > 0 && (
        <ul className={css.list}>
          {providers.map((each) => (
            <li key={each.id}>
              <div>
                <b>
                  {each.name} {each.enabled === 0 && <Tag>停用</Tag>}
                </b>
                <span>
                  {labelOf(each.kind)}，{each.people} 人关联
                </span>
                <span>回调地址：{each.redirect_url}</span>
              </div>
              <Button size="small" onClick={() => void copyText(each.redirect_url)}>
                复制回调地址
              </Button>
              <Button size="small" onClick={() => setOpen(each)}>
                修改
              </Button>
              <Button size="small" onClick={() => void remove(each)}>
                删除
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Button onClick={() => setOpen('new')}>添加</Button>
      <Sheet
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
        title={open === 'new' ? '添加' : '修改'}
      >
        <ProviderForm
          key={open === 'new' ? 'new' : open?.id}
          saved={open === 'new' ? undefined : open}
          onSaved={() => setOpen(undefined)}
        />
      </Sheet>
    </section>
  );
};
