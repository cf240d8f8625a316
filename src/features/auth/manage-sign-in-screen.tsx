import '#src/platform/late-calls.ts';
import type { SignInState } from '#contract/sign-in.ts';
import { Told } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { ButtonLink } from '#src/ui/button.tsx';
import type { Field, FormValues } from '#src/ui/form/field.ts';
import { Form } from '#src/ui/form/form.tsx';
import { SettingsForm } from '#src/ui/form/settings-form.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { ManageProviders } from './manage-providers.tsx';
import css from './manage-sign-in.module.css';

const mailFields = (state: SignInState): Field[] => [
  {
    name: 'mail_enabled',
    label: '打开邮件',
    kind: 'switch',
    hint: '绑定邮箱、验证码登录、找回密码',
  },
  { name: 'smtp_host', kind: 'text', max: 200, placeholder: 'smtp.example.com' },
  { name: 'smtp_port', kind: 'number', min: 1, max: 65_535 },
  {
    name: 'smtp_secure',
    kind: 'switch',
    hint: '端口 465 打开；587 关闭，那时用 STARTTLS 加密，服务器不支持就不发',
  },
  { name: 'smtp_user', kind: 'text', max: 200 },
  {
    name: 'smtp_password',
    kind: 'password',
    max: 500,
    hint: state.has_smtp_password ? '已经保存，不填就不改' : '很多邮箱要用授权码，不是登录密码',
  },
  { name: 'mail_from', kind: 'text', max: 200, placeholder: '鹊桥 <no-reply@example.com>' },
  { name: 'mail_daily', kind: 'number', min: 1, max: 1_000_000, unit: '封' },
];

const isTencent = (values: FormValues): boolean => values['sms_provider'] === 'tencent';
const isSet = (values: FormValues): boolean => Boolean(values['sms_provider']);
const smsFields = (state: SignInState): Field[] => [
  {
    name: 'sms_provider',
    kind: 'choice',
    options: [
      { value: '', label: '不用' },
      { value: 'aliyun', label: '阿里云' },
      { value: 'tencent', label: '腾讯云' },
    ],
  },
  {
    name: 'sms_key_id',
    kind: 'text',
    max: 200,
    hint: '阿里云的 AccessKey ID，腾讯云的 SecretId；请用只能发短信的子账号',
    when: isSet,
  },
  {
    name: 'sms_secret',
    kind: 'password',
    max: 500,
    hint: state.has_sms_secret ? '已经保存，不填就不改' : 'AccessKey Secret 或 SecretKey',
    when: isSet,
  },
  { name: 'sms_app', kind: 'text', max: 100, when: isTencent },
  { name: 'sms_sign', kind: 'text', max: 100, hint: '审核通过的签名，不带【】', when: isSet },
  {
    name: 'sms_template',
    kind: 'text',
    max: 100,
    hint: '只有一个变量：阿里云叫 code，腾讯云是 {1}',
    when: isSet,
  },
  { name: 'sms_region', kind: 'text', max: 60, when: isTencent },
  {
    name: 'sms_endpoint',
    kind: 'text',
    max: 200,
    placeholder: '通常不用填',
    when: isSet,
  },
  {
    name: 'sms_daily',
    kind: 'number',
    min: 1,
    max: 1_000_000,
    unit: '条',
    hint: '到了就不再发：有人恶意刷短信时，最多花这么多',
    when: isSet,
  },
  {
    name: 'phone_to_write',
    kind: 'switch',
    hint: '社区、私信、公开会话与图片、应用评论、公开的场景；管理员不用',
    when: isSet,
  },
];

const moreFields: Field[] = [
  {
    name: 'passkeys',
    kind: 'switch',
    hint: '要用域名和 https 访问；换了域名，原来的都不能再用',
  },
  {
    name: 'provider_register',
    kind: 'switch',
    hint: '第一次来就建一个账号；关着的话，要先有账号，再到账户里关联',
  },
];

/** A part of the settings with its own button: what one part lacks keeps no other from being saved. */
const Part = ({
  title,
  text,
  state,
  fields,
}: {
  title: string;
  text: string;
  state: SignInState;
  fields: readonly Field[];
}) => (
  <section className={`card ${css.part}`}>
    <h2>{title}</h2>
    <p>{text}</p>
    <SettingsForm
      settings={state.settings}
      fields={fields}
      save={(change) => api.saveSignIn(change, { quiet: true })}
    />
  </section>
);

const Try = ({ kind, sent, most }: { kind: 'mail' | 'phone'; sent: number; most: number }) => (
  <section className={`card ${css.part}`}>
    <h2>{kind === 'mail' ? '试发一封邮件' : '试发一条短信'}</h2>
    <p>
      今天已发 {sent} {kind === 'mail' ? '封' : '条'}，最多 {most}。
    </p>
    <Form
      fields={[
        {
          name: 'to',
          label: kind === 'mail' ? '邮箱地址' : '手机号',
          kind: 'text',
          required: true,
          max: 254,
        },
      ]}
      submit="发送"
      onSubmit={async ({ to }) => {
        const { ok, said } = await api.trySending({ kind, to: String(to) }, { quiet: true });
        if (!ok) throw new Told(said);
        toast(said, 'success');
      }}
    />
  </section>
);

/** The ways to sign in besides the password. */
export const ManageSignIn = () => {
  const state = useCall('signInSettings', {});
  const { data } = state;
  if (state.isError && !data) return <QueryFailed query={state} />;
  return (
    <ManagePage
      title="登录方式"
      acts={
        <ButtonLink size="small" to="/help" search={{ page: 'sign-in' }}>
          说明
        </ButtonLink>
      }
    >
      {!data && <Skeleton lines={8} />}
      {data && (
        <>
          <Part
            title="邮件"
            text="用您自己的邮箱服务发验证码。都关着的时候，登录页只有用户名和密码。"
            state={data}
            fields={mailFields(data)}
          />
          {data.settings.mail_enabled === 1 && (
            <Try kind="mail" sent={data.mails} most={data.settings.mail_daily} />
          )}
          <Part
            title="短信"
            text="手机号只支持中国大陆。发之前总要图片验证码，并按号码、地址和网段限次。"
            state={data}
            fields={smsFields(data)}
          />
          {data.settings.sms_provider !== '' && (
            <Try kind="phone" sent={data.messages} most={data.settings.sms_daily} />
          )}
          <Part title="其他" text="" state={data} fields={moreFields} />
          <ManageProviders providers={data.providers} />
        </>
      )}
    </ManagePage>
  );
};
