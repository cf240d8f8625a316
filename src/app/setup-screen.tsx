import type { SetupState, SetupStep } from '#contract/setup.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { ManagePage } from '#src/ui/manage-page.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useState } from 'react';
import { SetupAnswer } from './setup-answer.tsx';
import { AddressStep, PasswordStep, PaymentStep, PeopleStep } from './setup-steps.tsx';
import { stepTitles } from './setup-words.ts';
import css from './setup.module.css';

const joinWords = { open: '开放注册', invited: '凭邀请注册', closed: '不开放注册' } as const;

/** How a step stands, in a line. */
const standing = (state: SetupState, key: SetupStep): string => {
  if (key === 'password')
    return state.made_up === 1 ? '还是启动时生成的，再登录时要用' : '是自己定的';
  if (key === 'answer')
    return state.services.length > 0
      ? state.services.map(({ label }) => label).join('、')
      : '现在只有内置助手';
  if (key === 'address') return state.public_url === '' ? '只在自己的网络里' : state.public_url;
  if (key === 'payment')
    return state.payment === 0 || state.providers.length === 0
      ? '不收款'
      : state.providers.every((name) => name === 'sandbox')
        ? '沙箱，收不到钱'
        : '收款';
  return `${joinWords[state.people]}，${state.guests === 1 ? '不注册也能问' : '登录后才能问'}`;
};

const nextOf = ({ steps }: SetupState): SetupStep | null =>
  steps.find(({ done }) => done === 0)?.key ?? null;

/** The steps, of which one is open. One that gets done by itself stays open: its end is to be seen. */
const Path = ({ state, onChange }: { state: SetupState; onChange: () => void }) => {
  const [open, setOpen] = useState(() => nextOf(state));
  const saved = (after: SetupState) => {
    setOpen(nextOf(after));
    onChange();
  };
  return (
    <ol className={css.path}>
      {state.steps.map(({ key, done }, at) => (
        <li key={key} className={css.step}>
          <button
            type="button"
            className={css.head}
            aria-expanded={open === key}
            onClick={() => setOpen(open === key ? null : key)}
          >
            <span className={css.mark} data-done={done === 1 || undefined}>
              {done === 1 ? <Icon name="check" size={18} /> : at + 1}
            </span>
            <span className={css.words}>
              <strong>
                {stepTitles[key]}
                {done === 1 && <span className="sr-only">（做好了）</span>}
              </strong>
              <small>{standing(state, key)}</small>
            </span>
            <Icon name={open === key ? 'up' : 'down'} size={18} />
          </button>
          {open === key && (
            <div className={css.body}>
              {key === 'password' && <PasswordStep state={state} onSaved={saved} />}
              {key === 'answer' && <SetupAnswer services={state.services} onChange={onChange} />}
              {key === 'address' && <AddressStep state={state} onSaved={saved} />}
              {key === 'payment' && <PaymentStep state={state} onSaved={saved} />}
              {key === 'people' && <PeopleStep state={state} onSaved={saved} />}
            </div>
          )}
        </li>
      ))}
    </ol>
  );
};

/** The five steps of a first start; they can be taken in any order, left, and changed later. */
export const SetupScreen = () => {
  // A model that comes to this machine is a step that is done, without a press here.
  const setup = useCall('setupState', {}, { refetchInterval: 10_000 });
  const ending = useAct();
  const state = setup.data;
  if (setup.isError && !state)
    return (
      <ManagePage title="起步">
        <QueryFailed query={setup} />
      </ManagePage>
    );
  if (!state)
    return (
      <ManagePage title="起步">
        <Skeleton lines={6} />
      </ManagePage>
    );
  const left = state.steps.filter(({ done }) => done === 0).length;
  return (
    <ManagePage
      title="起步"
      acts={
        <>
          {state.ended === 0 && (
            <Button
              size="small"
              kind="ghost"
              busy={ending.busy}
              onClick={() => void ending.run(() => api.saveSetup({ ended: 1 }), '随时可以回来改')}
            >
              不再提醒
            </Button>
          )}
          <ButtonLink size="small" to="/">
            {left > 0 ? '先去用' : '去用'}
          </ButtonLink>
        </>
      }
    >
      <p className={css.intro}>
        {left > 0
          ? `还有 ${left} 步。哪一步都可以先放着，首页上会有一张卡片记着它。`
          : '五步都好了。这里的每一项以后都可以再改。'}
      </p>
      <Path state={state} onChange={() => void setup.refetch()} />
    </ManagePage>
  );
};
