import type { ImageChoices, ImageEngine } from '#server/engines/image-engine.ts';

/** How long what a service said stays true, when one that said nothing is asked again, and how long people wait for it, ms. */
const patience = { fresh: 60_000, again: 5_000, wait: 6_000 };

interface Said {
  at: number;
  choices: ImageChoices | null;
  asking: Promise<ImageChoices | null> | null;
}

const once = <T>(lists: readonly (readonly T[])[], key: (each: T) => string): T[] => [
  ...new Map(lists.flatMap((list) => list.map((each) => [key(each), each] as const))).values(),
];

/**
 * What can be chosen at services, as they said a short while ago. One that cannot be asked now
 * counts with what it last said.
 */
export const createImageChoices = (): ((
  channels: readonly { channelId: number; engine: ImageEngine }[],
) => Promise<ImageChoices>) => {
  const heard = new Map<number, Said>();

  const choicesOf = async (
    channelId: number,
    engine: ImageEngine,
  ): Promise<ImageChoices | null> => {
    const said = heard.get(channelId) ?? { at: 0, choices: null, asking: null };
    heard.set(channelId, said);
    const rest = said.choices === null ? patience.again : patience.fresh;
    if (Date.now() - said.at < rest) return said.choices;
    said.asking ??= engine
      .choices(AbortSignal.timeout(patience.wait))
      .then((choices) => (said.choices = choices))
      .catch(() => said.choices)
      .finally(() => {
        said.at = Date.now();
        said.asking = null;
      });
    return said.asking;
  };

  return async (channels) => {
    const all = await Promise.all(
      channels.map(({ channelId, engine }) => choicesOf(channelId, engine)),
    );
    const told = all.filter((choices) => choices !== null);
    const kinds = new Map<string, ImageChoices['controlTypes'][number]>();
    for (const kind of told.flatMap(({ controlTypes }) => controlTypes)) {
      const known = kinds.get(kind.type);
      kinds.set(kind.type, {
        ...kind,
        modules: [...new Set([...(known?.modules ?? []), ...kind.modules])],
        models: [...new Set([...(known?.models ?? []), ...kind.models])],
      });
    }
    return {
      checkpoints: once(
        told.map(({ checkpoints }) => checkpoints),
        ({ name }) => name,
      ),
      defaultCheckpoint: told[0]?.defaultCheckpoint ?? '',
      loras: once(
        told.map(({ loras }) => loras),
        ({ key }) => key,
      ),
      styles: once(
        told.map(({ styles }) => styles),
        ({ name }) => name,
      ),
      samplers: [...new Set(told.flatMap(({ samplers }) => samplers))],
      upscalers: [...new Set(told.flatMap(({ upscalers }) => upscalers))],
      controlTypes: [...kinds.values()],
    };
  };
};
