import { api } from '@/shared/api.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';

export interface CaptchaAnswer {
  captcha: string;
  captchaid: string;
}

/** A picture of characters to copy; a tap on it fetches another. `round` is the number of pictures asked for so far. */
export const CaptchaField = ({
  round,
  value,
  onChange,
}: {
  round: number;
  value: CaptchaAnswer;
  onChange: (value: CaptchaAnswer) => void;
}) => {
  const picture = useQuery({
    queryKey: ['captcha', round],
    queryFn: ({ signal }) => api.captcha({}, { signal, quiet: true }),
    staleTime: Infinity,
    gcTime: 0,
    meta: { steady: true },
  });
  const captchaid = picture.data?.captchaid ?? '';
  useEffect(() => {
    // An answer belongs to its picture alone.
    onChange({ captcha: '', captchaid });
  }, [captchaid, onChange]);
  return (
    <div className="captcha">
      <label>
        <span>验证码</span>
        <input
          className="text-input"
          name="captcha"
          autoComplete="off"
          autoCapitalize="none"
          maxLength={16}
          value={value.captcha}
          onChange={(event) => onChange({ captcha: event.target.value, captchaid })}
        />
      </label>
      <button
        type="button"
        className="captcha-picture"
        aria-label="换一张验证码"
        onClick={() => void picture.refetch()}
      >
        {picture.data ? (
          <img
            src={`data:image/svg+xml;utf8,${encodeURIComponent(picture.data.svg)}`}
            alt="验证码图片"
          />
        ) : picture.isError ? (
          '没有取到，点此重试'
        ) : (
          '正在取…'
        )}
      </button>
    </div>
  );
};
