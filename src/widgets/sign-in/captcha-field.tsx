import type { Out } from '#contract/calls.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import css from './captcha.module.css';

export interface CaptchaAnswer {
  captcha: string;
  captchaid: string;
  /** What this device worked out meanwhile; absent: not yet, or it cannot. */
  pow?: string;
}

type Task = Out<'captcha'>['pow'];

/** Works out what came with the image while it is read; undefined where the browser cannot. */
const solve = async (task: Task): Promise<string | undefined> => {
  // Browsers hash for secure addresses alone.
  if (!globalThis.isSecureContext) return undefined;
  const { solveChallenge } = await import('altcha-lib/v1');
  const { algorithm, challenge, maxnumber, salt, signature } = task;
  const found = await solveChallenge(challenge, salt, algorithm, maxnumber).promise;
  if (!found) return undefined;
  return btoa(JSON.stringify({ algorithm, challenge, number: found.number, salt, signature }));
};

/** An image of characters to copy; a tap on it fetches another. `round` is the number of images asked for so far. */
export const CaptchaField = ({
  round,
  value,
  onChange,
}: {
  round: number;
  value: CaptchaAnswer;
  onChange: (value: CaptchaAnswer) => void;
}) => {
  const image = useCall('captcha', {}, { ...steady, apart: round, gcTime: 0 });
  const captchaid = image.data?.captchaid ?? '';
  const task = image.data?.pow;
  const work = useQuery({
    queryKey: ['captcha-work', captchaid],
    queryFn: async () => (task ? ((await solve(task)) ?? '') : ''),
    enabled: task !== undefined,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    meta: { steady: true },
  });
  const pow = work.data || undefined;
  useEffect(() => {
    // An answer belongs to its image alone.
    onChange({ captcha: '', captchaid });
  }, [captchaid, onChange]);
  useEffect(() => {
    if (pow !== undefined && value.pow !== pow && value.captchaid === captchaid)
      onChange({ ...value, pow });
  }, [pow, value, captchaid, onChange]);
  return (
    <div className={css.captcha}>
      <label>
        <span>验证码</span>
        <input
          className="text-input"
          name="captcha"
          autoComplete="off"
          autoCapitalize="none"
          maxLength={16}
          value={value.captcha}
          onChange={(event) => onChange({ ...value, captcha: event.target.value, captchaid })}
        />
      </label>
      <button
        type="button"
        className={css.captchaImage}
        aria-label="换一张验证码"
        onClick={() => void image.refetch()}
      >
        {image.data ? (
          <img
            src={`data:image/svg+xml;utf8,${encodeURIComponent(image.data.svg)}`}
            alt="验证码图片"
          />
        ) : image.isError ? (
          '没有取到，点此重试'
        ) : (
          '正在取…'
        )}
      </button>
    </div>
  );
};
