import type { ContactKind } from '#contract/sign-in.ts';
import { Button } from '#src/ui/button.tsx';
import { CaptchaField } from '#src/widgets/sign-in/captcha-field.tsx';
import type { useCode } from '#src/widgets/sign-in/use-code.ts';
import { FieldAlert } from './field-alert.tsx';
import css from './auth.module.css';

const words: Record<ContactKind, { label: string; type: 'email' | 'tel'; complete: string }> = {
  mail: { label: '邮箱', type: 'email', complete: 'email' },
  phone: { label: '手机号', type: 'tel', complete: 'tel' },
};

/** Where the code goes, and the image before it; then the code itself. */
export const CodeFields = ({
  kind,
  to,
  code,
  asked,
  onTo,
  onCode,
}: {
  kind: ContactKind;
  to: string;
  code: string;
  asked: ReturnType<typeof useCode>;
  onTo: (to: string) => void;
  onCode: (code: string) => void;
}) => {
  const { label, type, complete } = words[kind];
  if (asked.id === '')
    return (
      <>
        <label className={css.formField}>
          <span>{label}</span>
          <input
            className="text-input"
            name="to"
            type={type}
            autoComplete={complete}
            maxLength={254}
            value={to}
            aria-invalid={asked.fault !== ''}
            onChange={(event) => onTo(event.target.value)}
          />
        </label>
        <CaptchaField {...asked.captcha} />
        <FieldAlert text={asked.fault === '' ? undefined : asked.fault} />
      </>
    );
  return (
    <>
      <p className={css.sent}>如果 {to.trim()} 绑定了账号，验证码一会儿就到，10 分钟内有效。</p>
      <label className={css.formField}>
        <span>{kind === 'mail' ? '邮件里的验证码' : '短信里的验证码'}</span>
        <input
          className="text-input"
          name="code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={12}
          autoFocus
          value={code}
          onChange={(event) => onCode(event.target.value)}
        />
      </label>
      <Button kind="ghost" size="small" onClick={asked.restart}>
        没有收到，重新获取
      </Button>
    </>
  );
};
