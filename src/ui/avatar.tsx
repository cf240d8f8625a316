import { useState } from 'react';

const hue = (name: string): number => {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 997;
  return (sum * 47) % 360;
};

/** A person's or model's image; without one, or when it fails, its first letter on a colour of its own. */
export const Avatar = ({
  name,
  src = '',
  size = 40,
  color,
}: {
  name: string;
  src?: string;
  size?: number;
  color?: string;
}) => {
  const [failed, setFailed] = useState('');
  const style = { width: size, height: size, fontSize: Math.round(size * 0.42) };
  if (src && failed !== src)
    return <img className="avatar" style={style} src={src} alt="" onError={() => setFailed(src)} />;
  const base = color || `hsl(${hue(name)} 62% 42%)`;
  return (
    <span
      className="avatar"
      style={{
        ...style,
        background: `linear-gradient(150deg, color-mix(in srgb, ${base} 72%, white), ${base})`,
      }}
      aria-hidden="true"
    >
      {Array.from(name.trim())[0]?.toUpperCase() ?? '鹊'}
    </span>
  );
};
