import '#src/platform/late-calls.ts';
import type { ContactKind } from '#contract/sign-in.ts';
import { attempt } from '#src/platform/attempt.ts';
import { errorText } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { CaptchaField } from '#src/widgets/sign-in/captcha-field.tsx';
import { useCode } from '#src/widgets/sign-in/use-code.ts';
import { useId, useState } from 'react';
import css from './sign-in-means.module.css';

const words: Record<ContactKind, string> = { mail: '邮箱', phone: '手机号' };

const Line = ({
  label,
  ...input
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: string;
  autoComplete?: string;
  inputMode?: 'numeric';
}) => (
  <label className={css.line}>
    <span>{label}</span>
    <input
      className="text-input"
      maxLength={254}
      {...input}
      onChange={(event) => input.onChange(event.target.value)}
    />
  </label>
);

/** The old address proves a change as the password does. */
const ByOld = ({
  kind,
  onDone,
}: {
  kind: ContactKind;
  onDone: (proof: { old_code_id: string; old_code: string }) => void;
}) => {
  const [code, setCode] = useState('');
  const asked = useCode((read) => api.sendBindCode({ kind, old: 1, ...read }));
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (asked.id === '') void asked.ask();
        else onDone({ old_code_id: asked.id, old_code: code });
      }}
    >
      <p>先证明现在绑定的{words[kind]}是您的。</p>
      {asked.id === '' ? (
        <CaptchaField {...asked.captcha} />
      ) : (
        <Line
          label={`旧${words[kind]}收到的验证码`}
          value={code}
          autoComplete="one-time-code"
          inputMode="numeric"
          onChange={setCode}
        />
      )}
      {asked.fault !== '' && (
        <small className={css.fault} role="alert">
          {asked.fault}
        </small>
      )}
      <Button kind="primary" type="submit" busy={asked.busy}>
        {asked.id === '' ? '向旧的发验证码' : '下一步'}
      </Button>
    </form>
  );
};

const BindForm = ({
  kind,
  old,
  onBound,
}: {
  kind: ContactKind;
  old: { old_code_id: string; old_code: string } | undefined;
  onBound: () => void;
}) => {
  const { busy, run } = useAct();
  const id = useId();
  const [to, setTo] = useState('');
  const [code, setCode] = useState('');
  const [fault, setFault] = useState('');
  const asked = useCode((read) => api.sendBindCode({ kind, to, ...read }));
  const bind = async () => {
    setFault('');
    await run(async () => {
      try {
        const { shown } = await api.bindContact(
          { kind, to, code_id: asked.id, code, ...old },
          { quiet: true },
        );
        toast(`已绑定 ${shown}`, 'success');
        onBound();
      } catch (error) {
        setFault(errorText(error).replace(/^\w+：/, ''));
      }
    });
  };
  const said = fault || asked.fault;
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        void (asked.id === '' ? asked.ask() : bind());
      }}
    >
      {asked.id === '' ? (
        <>
          <Line
            label={kind === 'mail' ? '邮箱地址' : '手机号（中国大陆）'}
            type={kind === 'mail' ? 'email' : 'tel'}
            autoComplete={kind === 'mail' ? 'email' : 'tel'}
            value={to}
            onChange={setTo}
          />
          <CaptchaField {...asked.captcha} />
        </>
      ) : (
        <>
          <p className={css.sent}>验证码已发到 {to.trim()}，10 分钟内有效。</p>
          <Line
            label="验证码"
            value={code}
            autoComplete="one-time-code"
            inputMode="numeric"
            onChange={setCode}
          />
        </>
      )}
      {said !== '' && (
        <small id={id} className={css.fault} role="alert">
          {said}
        </small>
      )}
      <Button kind="primary" type="submit" busy={busy || asked.busy}>
        {asked.id === '' ? '获取验证码' : '绑定'}
      </Button>
      {asked.id !== '' && (
        <Button kind="ghost" size="small" onClick={asked.restart}>
          没有收到，重新获取
        </Button>
      )}
    </form>
  );
};

/** A mail address or a phone number: bound, changed or given up. */
export const BindContact = ({
  kind,
  bound,
  hasPassword,
}: {
  kind: ContactKind;
  /** As it is shown; undefined: there is none. */
  bound: string | undefined;
  hasPassword: boolean;
}) => {
  const [open, setOpen] = useState(0);
  const [byOld, setByOld] = useState(false);
  const [old, setOld] = useState<{ old_code_id: string; old_code: string }>();
  const begin = (withOld: boolean) => {
    setByOld(withOld);
    setOld(undefined);
    setOpen((count) => count + 1);
  };
  const unbind = async () => {
    const sure = await confirmDialog({
      title: `解除${words[kind]}`,
      text: `之后不能再用它登录，也不能用它找回密码。`,
      ok: '解除',
      danger: true,
    });
    if (sure) await attempt(() => api.unbindContact({ kind }), '已解除');
  };
  return (
    <li>
      <div>
        <b>{words[kind]}</b>
        <span>{bound ?? '没有绑定'}</span>
      </div>
      {bound === undefined ? (
        <Button size="small" onClick={() => begin(false)}>
          绑定
        </Button>
      ) : (
        <>
          <Button size="small" onClick={() => begin(!hasPassword)}>
            更换
          </Button>
          <Button size="small" onClick={() => void unbind()}>
            解除
          </Button>
        </>
      )}
      <Sheet
        open={open > 0}
        onClose={() => setOpen(0)}
        title={`${bound === undefined ? '绑定' : '更换'}${words[kind]}`}
      >
        {byOld && !old ? (
          <ByOld kind={kind} onDone={setOld} />
        ) : (
          <BindForm key={open} kind={kind} old={old} onBound={() => setOpen(0)} />
        )}
        {bound !== undefined && hasPassword && !old && (
          <Button kind="ghost" size="small" onClick={() => setByOld(!byOld)}>
            {byOld ? '用密码证明' : `用旧${words[kind]}证明，不用密码`}
          </Button>
        )}
      </Sheet>
    </li>
  );
};
