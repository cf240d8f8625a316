import { useEffect, useState } from 'react';
import type { ToolFile } from '#contract/tool.ts';
import { useAttribute } from '#src/ui/use-attribute.ts';
import css from './drawn-file.module.css';

/** The picture of a chart as an address that runs nothing, dark where the page is. */
const addressOf = async (file: ToolFile, dark: boolean): Promise<string> => {
  const answer = await fetch(file.url);
  if (!answer.ok) throw new Error(String(answer.status));
  if (file.shown !== 'image/svg+xml')
    return URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type: file.shown ?? '' }));
  const text = await answer.text();
  const drawn = dark ? text.replace(/<svg\b/i, '<svg data-dark=""') : text;
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn)}`;
};

/** A picture that a program drew: its address gives a file, so it is shown from memory. */
export const DrawnFile = ({ file }: { file: ToolFile }) => {
  const dark = useAttribute('data-dark') === '1';
  const [url, setUrl] = useState('');
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let over = false;
    let made = '';
    const show = async () => {
      try {
        made = await addressOf(file, dark);
        if (over) URL.revokeObjectURL(made);
        else setUrl(made);
      } catch {
        setFailed(!over);
      }
    };
    void show();
    return () => {
      over = true;
      URL.revokeObjectURL(made);
    };
  }, [file, dark]);
  if (failed)
    return (
      <p className={css.picture} role="alert">
        图片取不到，请稍后再打开这个会话
      </p>
    );
  return (
    <div className={css.picture} data-drawing={url === '' || undefined}>
      {url !== '' && <img src={url} alt={file.name} />}
    </div>
  );
};
