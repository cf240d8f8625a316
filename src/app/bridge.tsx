import { useState } from 'react';
import css from './bridge.module.css';

/** A bridge in the mist, at night under the moon, drawn by the built-in canvas (scripts/samples.ts). */
export const Bridge = () => {
  const [missing, setMissing] = useState(false);
  if (missing) return null;
  return (
    <div className={css.bridge} aria-hidden="true">
      {(['day', 'night'] as const).map((time) => (
        <img
          key={time}
          className={css[time]}
          src={`/samples/bridge-${time}.webp`}
          alt=""
          width={640}
          height={360}
          onError={() => setMissing(true)}
        />
      ))}
    </div>
  );
};
