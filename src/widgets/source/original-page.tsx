import { useCall } from '#src/platform/call-query.ts';
import { Button } from '#src/ui/button.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { useEffect, useRef, useState } from 'react';
import type { Stretch } from './lines.ts';
import { pageMarks } from './page-marks.ts';
import css from './source.module.css';

const toSight = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: 'center', inline: 'start' });

const Drawn = ({
  id,
  stretches,
  place,
}: {
  id: number;
  stretches: readonly Stretch[];
  place: string;
}) => {
  const [large, setLarge] = useState(false);
  const { data, ...page } = useCall('passagePage', { id });
  if (page.isError) return <QueryFailed query={page} />;
  if (!data)
    return (
      <div className={css.coming} role="status">
        正在画出原页…
      </div>
    );
  const passage = stretches.map(({ text }) => text).join('');
  const marked = stretches.flatMap(({ text, marked: isMarked }) => (isMarked ? [text] : []));
  const marks = pageMarks(data.lines, passage, marked);
  return (
    <>
      <div className={css.page}>
        <div className={css.sheet} data-large={large}>
          <img
            src={data.picture}
            width={data.width}
            height={data.height}
            alt={`原页${place === '' ? '' : `：${place}`}`}
          />
          {marks.map(({ x, y, width, height }, at) => (
            <span
              key={at}
              data-page-mark=""
              ref={at === 0 && large ? toSight : undefined}
              style={{
                left: `${x * 100}%`,
                top: `${y * 100}%`,
                width: `${width * 100}%`,
                height: `${height * 100}%`,
              }}
            />
          ))}
        </div>
      </div>
      <div>
        <Button size="small" onClick={() => setLarge(!large)}>
          {large ? '看整页' : '放大'}
        </Button>
      </div>
      {marks.length === 0 && (
        <p className={css.note}>
          {data.lines.length === 0
            ? '原页是图片，没有记下字的位置，请对照看；这个文件重新训练后会标出来。'
            : '这一页上没有对得上的原句，请对照看。'}
        </p>
      )}
    </>
  );
};

/** The page of its file that a passage stands on, drawn when it comes into sight, with its words marked. */
export const OriginalPage = ({
  id,
  stretches,
  place,
}: {
  /** Of the passage. */
  id: number;
  stretches: readonly Stretch[];
  /** In words. */
  place: string;
}) => {
  const [seen, setSeen] = useState(false);
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
    });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <section ref={box} className={css.original} aria-label="原页">
      {seen ? (
        <Drawn id={id} stretches={stretches} place={place} />
      ) : (
        <div className={css.coming} aria-hidden="true" />
      )}
    </section>
  );
};
