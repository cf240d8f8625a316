import '#src/platform/late-calls.ts';
import type { Out } from '#contract/calls.ts';
import { useAct } from '#src/platform/use-act.ts';
import { useState } from 'react';
import type { CaptchaAnswer } from './captcha-field.tsx';

/**
 * A code that is sent after an image was read. `id` goes along with the code, empty: none was asked
 * for yet. Each try needs another image.
 */
export const useCode = (send: (read: CaptchaAnswer) => Promise<Out<'sendSignInCode'>>) => {
  const { busy, run } = useAct();
  const [round, setRound] = useState(1);
  const [value, setValue] = useState<CaptchaAnswer>({ captcha: '', captchaid: '' });
  const [id, setId] = useState('');
  const [fault, setFault] = useState('');
  const ask = async () => {
    setFault('');
    await run(async () => {
      try {
        const answer = await send(value);
        if (answer.error) setFault(answer.error);
        else setId(answer.code_id ?? '');
      } finally {
        setRound((count) => count + 1);
      }
    });
  };
  const restart = () => {
    setId('');
    setFault('');
  };
  return { busy, ask, id, fault, restart, captcha: { round, value, onChange: setValue } };
};
