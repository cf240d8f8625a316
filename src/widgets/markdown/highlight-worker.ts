import type { ColourAnswer, ColourRequest } from './colours.ts';
import { colour } from './highlight.ts';

const answer = (message: ColourAnswer) => postMessage(message);

addEventListener('message', ({ data }: MessageEvent<ColourRequest>) => {
  const { id, code, label } = data;
  colour(code, label).then(
    (lines) => answer({ id, lines }),
    () => answer({ id, failed: true }),
  );
});
