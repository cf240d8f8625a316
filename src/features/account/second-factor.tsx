import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { copyText } from '#src/platform/copy.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import { useState, type ReactNode } from 'react';
import { codeField, eitherCode } from './code-field.ts';
import css from './profile-tab.module.css';

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className={`card ${css.part}`}>
    <h2>{title}</h2>
    {children}
  </section>
);

/** They are kept as hashes alone: nobody can show them again. */
const RecoveryCodes = ({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) => (
  <Part title="恢复码">
    <p>手机丢了的时候，每个恢复码可以代替验证码登录一次。它们只显示这一次，请现在保存好。</p>
    <ul className={css.recovery}>
      {codes.map((each) => (
        <li key={each}>{each}</li>
      ))}
    </ul>
    <div className={css.acts}>
      <Button onClick={() => void copyText(codes.join('\n'))}>全部复制</Button>
      <Button kind="primary" onClick={onDone}>
        我保存好了
      </Button>
    </div>
  </Part>
);

const Begun = ({
  begun,
  onEnabled,
}: {
  begun: Out<'totpBegin'>;
  onEnabled: (codes: string[]) => void;
}) => (
  <Part title="用验证器扫一扫">
    <img
      className={css.code}
      alt="动态验证码的二维码"
      src={`data:image/svg+xml;utf8,${encodeURIComponent(begun.svg)}`}
    />
    <p>
      扫不了的话，手工输入：<span className={css.secret}>{begun.secret}</span>
    </p>
    <Form
      fields={[{ ...codeField, label: '验证器上的六位数字', max: 10 }]}
      submit="打开"
      onSubmit={async (values) => {
        const made = await api.totpEnable({ code: String(values['code']) }, { quiet: true });
        onEnabled(made.recovery_codes);
      }}
    />
  </Part>
);

const Enabled = ({
  left,
  onRenewed,
  onDisabled,
}: {
  left: number;
  onRenewed: (codes: string[]) => void;
  onDisabled: () => void;
}) => {
  return (
    <Part title="动态验证码：已打开">
      <p>登录时除了密码，还要手机上的验证码。还剩 {left} 个恢复码。</p>
      <Form
        fields={[
          { ...codeField, label: '换恢复码：验证码', hint: `${eitherCode}；原来的都会作废` },
        ]}
        submit="换一套恢复码"
        onSubmit={async (values) => {
          const made = await api.totpRecovery({ code: String(values['code']) }, { quiet: true });
          onRenewed(made.recovery_codes);
        }}
      />
      <Form
        fields={[{ ...codeField, label: '关闭：验证码', hint: eitherCode }]}
        submit="关闭动态验证码"
        danger
        onSubmit={async (values) => {
          await api.totpDisable({ code: String(values['code']) }, { quiet: true });
          onDisabled();
          toast('动态验证码已关闭', 'success');
        }}
      />
    </Part>
  );
};

/** The second proof of identity: a code of an authenticator app, and codes for when it is lost. */
export const SecondFactor = () => {
  const state = useCall('totpState', {});
  const [begun, setBegun] = useState<Out<'totpBegin'>>();
  const [recovery, setRecovery] = useState<string[]>();
  const begin = async () => setBegun(await api.totpBegin({}));
  if (recovery) return <RecoveryCodes codes={recovery} onDone={() => setRecovery(undefined)} />;
  if (state.data?.enabled)
    return (
      <Enabled
        left={state.data.recovery_left}
        onRenewed={setRecovery}
        onDisabled={() => setBegun(undefined)}
      />
    );
  if (begun) return <Begun begun={begun} onEnabled={setRecovery} />;
  return (
    <Part title="动态验证码">
      <p>
        打开之后，别人就是知道了您的密码，没有您的手机也登录不了。需要一个验证器应用，如 Microsoft
        Authenticator、Google Authenticator 或密码管理器。
      </p>
      {state.data ? (
        <Button kind="primary" onClick={() => void attempt(begin)}>
          打开动态验证码
        </Button>
      ) : (
        <Skeleton lines={1} />
      )}
    </Part>
  );
};
