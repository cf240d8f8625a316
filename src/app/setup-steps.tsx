import { limits } from '#contract/limits.ts';
import type { SetupState, SetupStep, SiteFinding, WhoMayJoin } from '#contract/setup.ts';
import { api } from '#src/platform/api.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { Findings } from '#src/widgets/findings/findings.tsx';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import css from './setup.module.css';

interface StepProps {
  state: SetupState;
  /** Notes the new state, and goes on to the next step that is open. */
  onSaved: (state: SetupState) => void;
}

const passwordFields = [
  {
    name: 'new_password',
    label: '新的密码',
    kind: 'password',
    required: true,
    min: limits.password.min,
    max: limits.password.max,
    hint: `至少 ${limits.password.min} 个字符；只有您知道`,
  },
] as const;

export const PasswordStep = ({ state, onSaved }: StepProps) =>
  state.made_up === 1 ? (
    <>
      <p>
        退出以后、换一台设备，要用用户名 admin
        和密码才能再进来。现在的密码是启动时生成的，打印在运行鹊桥的窗口里，看得到那个窗口的人都知道；换成自己的，也好记。
      </p>
      <Form
        fields={passwordFields}
        submit="换成这个密码"
        onSubmit={async ({ new_password: wanted }) =>
          onSaved(await api.setupPassword({ new_password: String(wanted) }, { quiet: true }))
        }
      />
    </>
  ) : (
    <>
      <p>密码是您自己的了。再加一层：打开动态验证码，别人拿到密码也进不来。</p>
      <p>
        可能有别人进来过的话，再看看账户里的其他登录方式、通行密钥、动态验证码和 API
        密钥，不是您的就去掉。
      </p>
      <div className={css.acts}>
        <ButtonLink to="/account" search={{ tab: 'security' }}>
          去账户安全
        </ButtonLink>
      </div>
    </>
  );

const useSettle = (step: SetupStep, onSaved: StepProps['onSaved']) => {
  const { busy, run } = useAct();
  return {
    busy,
    settle: (more: Parameters<typeof api.saveSetup>[0] = {}) =>
      void run(async () => onSaved(await api.saveSetup({ settle: step, ...more }))),
  };
};

export const AddressStep = ({ state, onSaved }: StepProps) => {
  const [found, setFound] = useState<SiteFinding[]>();
  const trying = useAct();
  const { busy, settle } = useSettle('address', onSaved);
  return (
    <>
      {state.public_url === '' ? (
        <p>
          现在只有这台机器和同一个网络里的人打得开。要让别人用，准备一个域名和 HTTPS（例如用
          Caddy、nginx 或宝塔转到这个端口），再在 <code>.env</code> 里写一行{' '}
          <code>PUBLIC_URL=https://您的域名</code>，重新启动。没有
          HTTPS，安装到主屏幕、录音和通知都用不了。
        </p>
      ) : (
        <p>
          对外的地址是 <code>{state.public_url}</code>。
        </p>
      )}
      {found && <Findings list={found} />}
      <div className={css.acts}>
        <Button
          kind={state.public_url === '' ? 'plain' : 'primary'}
          busy={trying.busy}
          onClick={() =>
            void trying.run(async () => setFound((await api.checkSite({ part: 'address' })).list))
          }
        >
          {trying.busy ? '正在试…' : '试一试'}
        </Button>
        <Button busy={busy} onClick={() => settle()}>
          {state.public_url === '' ? '只在自己的网络里用' : '就用这个地址'}
        </Button>
        <ButtonLink kind="ghost" to="/help" search={{ page: 'deploy', section: '放到公网' }}>
          怎样放到公网
        </ButtonLink>
      </div>
    </>
  );
};

const payNames: Readonly<Record<string, string>> = {
  wechat: '微信支付',
  alipay: '支付宝',
  sandbox: '沙箱收银台（收不到钱，只用来试）',
};

export const PaymentStep = ({ state, onSaved }: StepProps) => {
  const { busy, settle } = useSettle('payment', onSaved);
  const real = state.providers.some((name) => name !== 'sandbox');
  const ways = state.providers.map((name) => payNames[name] ?? name).join('、');
  return (
    <>
      <p>
        {state.payment === 0 || ways === ''
          ? '现在不收款：没有人能充值或买会员，余额由您在“用户”里给。'
          : `现在的收款方式：${ways}。`}
      </p>
      {!real && (
        <p>
          真的收款要在 <code>.env</code> 里写 <code>PAYMENT=wechat,alipay</code> 和商户的密钥，见
          <Link to="/help" search={{ page: 'deploy', section: '收款' }}>
            部署
          </Link>
          。
        </p>
      )}
      <div className={css.acts}>
        <Button kind="primary" busy={busy} onClick={() => settle({ payment: 0 })}>
          不收款
        </Button>
        {ways !== '' && (
          <Button busy={busy} onClick={() => settle({ payment: 1 })}>
            {real ? '这样收款' : '先用沙箱试'}
          </Button>
        )}
      </div>
    </>
  );
};

const peopleHints: Readonly<Record<WhoMayJoin, string>> = {
  open: '任何人都可以注册。',
  invited: '只有拿到邀请链接的人可以注册；每个人都能在“账户”里发邀请链接。',
  closed: '没有人能再注册，已有的账号照常。',
};

export const PeopleStep = ({ state, onSaved }: StepProps) => {
  const [people, setPeople] = useState(state.people);
  const [guests, setGuests] = useState(state.guests === 1);
  const { busy, settle } = useSettle('people', onSaved);
  return (
    <>
      <ChipChoice<WhoMayJoin>
        label="谁可以注册"
        value={people}
        choices={[
          { value: 'open', label: '开放注册' },
          { value: 'invited', label: '凭邀请' },
          { value: 'closed', label: '不开放' },
        ]}
        onChange={setPeople}
      />
      <p>{peopleHints[people]}</p>
      <SwitchField
        label="不注册也可以提问"
        hint="访客每天的次数由 GUEST_MESSAGES 限制；关掉后，已经来过的访客还能接着用他们的会话"
        checked={guests}
        onChange={setGuests}
      />
      <div className={css.acts}>
        <Button
          kind="primary"
          busy={busy}
          onClick={() => settle({ people, guests: guests ? 1 : 0 })}
        >
          保存
        </Button>
      </div>
    </>
  );
};
