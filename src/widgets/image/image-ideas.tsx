import { imageIdeas } from '#contract/image-ideas.ts';
import css from './image-ideas.module.css';

/** Images to try, as the built-in canvas draws them, each with its words. */
export const ImageIdeas = ({
  mark,
  onChoose,
}: {
  /** Stands on each of them. */
  mark?: string;
  /** `style`: of the built-in canvas; empty: none. */
  onChoose: (prompt: string, style: string) => void;
}) => (
  <ul className={css.ideas} aria-label="试试这些">
    {imageIdeas.map(({ name, prompt, style, shape }) => (
      <li key={name}>
        <button type="button" data-shape={shape} onClick={() => onChoose(prompt, style)}>
          <img
            src={`/samples/idea-${name}.webp`}
            width={480}
            height={shape === 'wide' ? 360 : 640}
            alt=""
            loading="lazy"
            decoding="async"
          />
          <span>{prompt}</span>
          {mark && <span className={css.mark}>{mark}</span>}
        </button>
      </li>
    ))}
  </ul>
);
