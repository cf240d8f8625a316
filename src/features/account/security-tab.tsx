import '#src/platform/late-calls.ts';
import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import type { AgreementKind } from '#contract/agreement-kinds.ts';
import { Link } from '@tanstack/react-router';
import { limits } from '#contract/limits.ts';
import { useState } from 'react';
import css from './profile-tab.module.css';
import { MinorPart } from './minor-part.tsx';
import { SafetyPart } from './safety-part.tsx';
import { SecondFactor } from './second-factor.tsx';

const SignInMeans = lazyAsked(() => import('./sign-in-means.tsx'), <Skeleton lines={4} />);

const kinds = { mail: '邮箱', phone: '手机号' };

/** Ways in that were added lately stay with a changed password: who knew the old one may have added them. */
const Lately = ({ changedAt }: { changedAt: number }) => {
  const means = useCall('signInMeans', {}).data;
  const since = new Date(changedAt - limits.latelyBoundDays * 86_400_000).toISOString();
  const added = [
    ...(means?.contacts.map(({ kind, shown, created_at: at }) => ({
      name: `${kinds[kind]} ${shown}`,
      at,
    })) ?? []),
    ...(means?.identities.map(({ name, created_at: at }) => ({ name: `“${name}”账号`, at })) ?? []),
    ...(means?.passkeys.map(({ name, created_at: at }) => ({ name: `通行密钥“${name}”`, at })) ??
      []),
  ].filter(({ at }) => at > since);
  if (added.length === 0) return null;
  return (
    <p role="status">
      <strong>
        近 {limits.latelyBoundDays} 天添加的登录方式还能登录：
        {added.map(({ name }) => name).join('、')}。不是您添加的，请在下面解除。
      </strong>
    </p>
  );
};

const Password = () => {
  /** When it was changed here, ms; 0: it was not. */
  const [changedAt, setChangedAt] = useState(0);
  return (
    <section className={`card ${css.part}`}>
      <h2>修改密码</h2>
      <p>修改之后，其他设备要重新登录。</p>
      <Form
        key={changedAt}
        fields={[
          { name: 'old_password', label: '现在的密码', kind: 'password', required: true },
          {
            name: 'password',
            label: '新密码',
            kind: 'password',
            required: true,
            min: limits.password.min,
            max: limits.password.max,
          },
          {
            name: 'password2',
            label: '再次输入新密码',
            kind: 'password',
            required: true,
            check: (value, values) =>
              value === values['password'] ? undefined : '两次输入的密码不一致！',
          },
          {
            name: 'keep_keys',
            label: '保留 API-KEY',
            kind: 'switch',
            hint: '不保留的话，用原来的 KEY 的程序要换上新的',
          },
        ]}
        initial={{}}
        submit="修改密码"
        onSubmit={async (values) => {
          const { keys_removed: removed } = await api.changePassword(
            {
              old_password: String(values['old_password']),
              password: String(values['password']),
              password2: String(values['password2']),
              keep_keys: values['keep_keys'] === true ? 1 : 0,
            },
            { quiet: true },
          );
          const keys = removed > 0 ? `，${removed} 个 API-KEY 已作废` : '';
          toast(`密码已修改，其他设备已退出${keys}`, 'success');
          setChangedAt(Date.now());
        }}
      />
      {changedAt > 0 && <Lately changedAt={changedAt} />}
    </section>
  );
};

const Devices = () => {
  const devices = useCall('deviceList', {});
  const list = devices.data?.list ?? [];
  const others = list.filter((each) => each.current === 0);
  return (
    <section className={`card ${css.part}`}>
      <h2>登录的设备</h2>
      <ul className={css.devices}>
        {list.map((each) => (
          <li key={each.id}>
            <div>
              <b>{each.name}</b>
              <span>
                {each.current === 1
                  ? '这台设备'
                  : `最近使用 ${dateTime(each.seen_at).slice(0, 10)}`}
                ，{dateTime(each.created_at)} {each.fresh === 1 && '第一次在这台设备'}登录
              </span>
            </div>
            {each.current === 0 && (
              <Button
                size="small"
                onClick={() => void attempt(() => api.signOutDevice({ id: each.id }))}
              >
                退出
              </Button>
            )}
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <Button onClick={() => void attempt(() => api.signOutDevice({}))}>退出其他全部设备</Button>
      )}
    </section>
  );
};

/** What one agreed to, and the way back. */
const Agreements = () => {
  const { data } = useCall('agreements', {});
  if (!data || data.list.length === 0) return null;
  const withdraw = async (kind: AgreementKind, title: string) => {
    const sure = await confirmDialog({
      title: `撤回对《${title}》的同意`,
      text: '撤回之前的使用不受影响。不想再用的话，可以在“资料”里导出数据、注销账号。',
      ok: '撤回',
      danger: true,
    });
    if (sure) await attempt(() => api.withdrawAgreement({ kind }));
  };
  return (
    <section className={`card ${css.part}`}>
      <h2>协议</h2>
      <ul className={css.devices}>
        {data.list.map(({ kind, title, version, agreed, agreed_at: at }) => (
          <li key={kind}>
            <div>
              <b>
                <Link to="/help" search={{ page: `agreement-${kind}` }}>
                  《{title}》
                </Link>
              </b>
              <span>
                {at === null ? '没有同意' : `${dateTime(at)} 同意了第 ${agreed} 版`}
                {at !== null && agreed < version && `，现在是第 ${version} 版`}
              </span>
            </div>
            {agreed < version && (
              <Button
                size="small"
                onClick={() => void attempt(() => api.agree({ agreed: [{ kind, version }] }))}
              >
                同意
              </Button>
            )}
            {agreed > 0 && (
              <Button size="small" onClick={() => void withdraw(kind, title)}>
                撤回
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
};

/** Who has no password yet sets one below. */
const OwnPassword = () =>
  useCall('signInMeans', {}).data?.has_password === false ? null : <Password />;

const SecurityTab = () => (
  <>
    <OwnPassword />
    <SecondFactor />
    <SignInMeans />
    <Devices />
    <MinorPart />
    <SafetyPart />
    <Agreements />
  </>
);

export default SecurityTab;
