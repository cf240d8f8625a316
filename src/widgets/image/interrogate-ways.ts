import { useAuth } from '#src/platform/auth-store.ts';
import { useImageModels, useWriter } from '#src/platform/queries.ts';
import { imageWays } from '#contract/image-family.ts';
import { translationDeduction } from '#contract/price.ts';

const names: Record<(typeof imageWays)[number], string> = {
  clip: '写实（CLIP）',
  DeepBooru: '动漫（DeepBooru）',
};

export interface InterrogateWay {
  /** As the call takes it. */
  value: string;
  label: string;
}

/** A description of some length, for its price. */
const someWords = 'a photo of something, described in some forty words, '.repeat(5);

/**
 * Who can put an image into words here: the two ways of stable-diffusion-webui where there is one,
 * other services by their names, and what is built in, which measures and knows no things.
 */
export const useInterrogateWays = (): {
  ways: InterrogateWay[];
  priceOf: (way: string) => number;
} => {
  const { signedIn } = useAuth();
  const lookers = (useImageModels().data ?? []).filter(
    ({ image, factor }) => image?.abilities.includes('interrogate') && (signedIn || factor === 0),
  );
  const writer = useWriter();
  const webui = lookers.some(({ image }) => image?.family === 'stable-diffusion');
  const ways = [
    ...(webui ? imageWays.map((value) => ({ value: value as string, label: names[value] })) : []),
    ...lookers
      .filter(({ image }) => image?.family !== 'stable-diffusion')
      .map(({ name, label }) => ({ value: name, label })),
  ];
  return {
    ways,
    /** Tokens for its Chinese, about; what is built in says that itself. */
    priceOf: (way) =>
      writer && !lookers.some(({ name, built_in }) => built_in && name === way)
        ? translationDeduction(
            { factor: writer.factor, promptFactor: writer.prompt_factor },
            someWords,
          )
        : 0,
  };
};
