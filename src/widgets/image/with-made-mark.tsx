import { lazyPart } from '#src/platform/lazy-chunk.ts';

const MadeMark = lazyPart(() => import('./made-mark.tsx'));

/** Says in the corner of an image that a model made it, once the code for that has come. */
export const WithMadeMark = ({ url }: { url: string }) => <MadeMark url={url} />;

/** The same for whoever shows one image of several. */
export const madeMarkOf = (url: string) => <WithMadeMark url={url} />;
