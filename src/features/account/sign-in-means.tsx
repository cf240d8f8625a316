import '#src/platform/late-calls.ts';
import type { Out } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { keepWay } from '#src/platform/provider-way.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Form } from '#src/ui/form/form.tsx';
import { BindContact } from './bind-contact.tsx';
import { Passkeys } from './passkeys.tsx';
import css from './profile-tab.module.css';
import own from './sign-in-means.module.css';

type Means = Out<'signInMeans'>;
type Ways = Out<'signInWays'>;

const Contacts = ({ means, ways }: { means: Means; ways: Ways }) => {
  const kinds = (['mail', 'phone'] as const).filter(
    (kind) => ways[kind] || means.contacts.some((each) => each.kind === kind),
  );
  if (kinds.length === 0) return null;
  return (
    <section className={`card ${css.part}`}>
      <h2>邮箱与手机号</h2>
      <p>绑定之后可以用验证码登录，忘记密码时可以找回。别人看不到。</p>
      {means.phone_to_write && (
        <p>
          <strong className={own.needed}>这里要求先绑定手机号，才能公开发表或给人写私信。</strong>
        </p>
      )}
      <ul className={css.devices}>
        {kinds.map((kind) => (
          <BindContact
            key={kind}
            kind={kind}
            bound={means.contacts.find((each) => each.kind === kind)?.shown}
            hasPassword={means.has_password}
          />
        ))}
      </ul>
    </section>
  );
};

const Providers = ({ means, ways }: { means: Means; ways: Ways }) => {
  const { busy, run } = useAct();
  if (ways.providers.length === 0 && means.identities.length === 0) return null;
  const link = (id: number) =>
    run(async () => {
      const { url, state, secret } = await api.linkProvider({ id });
      keepWay(state, { secret });
      location.assign(url);
    });
  const unlink = async (id: number, name: string) => {
    const sure = await confirmDialog({
      title: `解除与“${name}”的关联`,
      text: '之后不能再用它登录。',
      ok: '解除',
      danger: true,
    });
    if (sure) await attempt(() => api.unlinkProvider({ id }), '已解除');
  };
  const open = ways.providers.filter(
    ({ id }) => !means.identities.some((each) => each.provider_id === id),
  );
  return (
    <section className={`card ${css.part}`}>
      <h2>用别处的账号登录</h2>
      <ul className={css.devices}>
        {means.identities.map(({ id, name, label, created_at: at }) => (
          <li key={id}>
            <div>
              <b>{name}</b>
              <span>
                {label === '' ? '' : `${label}，`}
                {dateTime(at)} 关联
              </span>
            </div>
            <Button size="small" onClick={() => void unlink(id, name)}>
              解除
            </Button>
          </li>
        ))}
        {open.map(({ id, name }) => (
          <li key={`open ${id}`}>
            <div>
              <b>{name}</b>
              <span>没有关联</span>
            </div>
            <Button size="small" busy={busy} onClick={() => void link(id)}>
              关联
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
};

const FirstPassword = ({ account }: { account: string }) => (
  <section className={`card ${css.part}`}>
    <h2>设一个密码</h2>
    <p>
      您的用户名是 {account}，还没有密码。设了之后，别的方式用不了时也能登录。要在登录后 10
      分钟内做。
    </p>
    <Form
      fields={[
        {
          name: 'password',
          label: '密码',
          kind: 'password',
          required: true,
          min: limits.password.min,
          max: limits.password.max,
        },
        {
          name: 'password2',
          label: '再次输入密码',
          kind: 'password',
          required: true,
          check: (value, values) =>
            value === values['password'] ? undefined : '两次输入的密码不一致！',
        },
      ]}
      submit="设为密码"
      onSubmit={async ({ password, password2 }) => {
        await api.setFirstPassword(
          { password: String(password), password2: String(password2) },
          { quiet: true },
        );
        toast('密码已设好', 'success');
      }}
    />
  </section>
);

const ways: Readonly<Record<string, string>> = {
  password: '密码',
  register: '注册',
  mail: '邮箱',
  phone: '手机号',
  provider: '别处的账号',
  passkey: '通行密钥',
};
const acts: Readonly<Record<string, (way: string) => string>> = {
  sign_in: (way) => (way === '注册' ? '注册并登录' : `用${way}登录`),
  reset: (way) => `用${way}重置了密码`,
  bind: (way) => `绑定了${way}`,
  unbind: (way) => `解除了${way}`,
  link: (way) => `添加了${way}`,
  unlink: (way) => `去掉了${way}`,
  password: () => '设了密码',
};

/** Shown at once; the rest unfolds. */
const few = 5;

/** What happened to the account: what one did not do oneself is seen here. */
const Events = ({ events }: { events: Means['events'] }) => {
  if (events.length === 0) return null;
  const line = ({ kind, way, device, created_at: at }: Means['events'][number], place: number) => (
    <li key={`${at} ${place}`}>
      <div>
        <b>{acts[kind]?.(ways[way] ?? way) ?? kind}</b>
        <span>
          {dateTime(at)}，{device}
        </span>
      </div>
    </li>
  );
  return (
    <section className={`card ${css.part}`}>
      <h2>最近的登录与更改</h2>
      <p>不是您本人做的，请马上修改密码，并退出其他设备。</p>
      <ul className={css.devices}>{events.slice(0, few).map(line)}</ul>
      {events.length > few && (
        <details>
          <summary>更早的 {events.length - few} 条</summary>
          <ul className={css.devices}>{events.slice(few).map(line)}</ul>
        </details>
      )}
    </section>
  );
};

/** How one can sign in besides the password, as far as it is set here. */
const SignInMeans = () => {
  const means = useCall('signInMeans', {}).data;
  const open = useCall('signInWays', {}, steady).data;
  if (!means || !open) return null;
  return (
    <>
      {!means.has_password && <FirstPassword account={means.account} />}
      <Contacts means={means} ways={open} />
      {(open.passkeys || means.passkeys.length > 0) && <Passkeys list={means.passkeys} />}
      <Providers means={means} ways={open} />
      <Events events={means.events} />
    </>
  );
};

export default SignInMeans;
