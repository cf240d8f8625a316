import { listModels } from '#server/engines/openai-compatible/list-models.ts';

/** Where programs that run models on this very machine usually listen. */
const usualPlaces = [
  { label: 'Ollama（本机）', baseUrl: 'http://127.0.0.1:11434/v1' },
  { label: 'LM Studio（本机）', baseUrl: 'http://127.0.0.1:1234/v1' },
  { label: 'llama.cpp（本机）', baseUrl: 'http://127.0.0.1:8080/v1' },
  { label: 'vLLM（本机）', baseUrl: 'http://127.0.0.1:8000/v1' },
] as const;

export interface LocalService {
  key: string;
  label: string;
  baseUrl: string;
  models: string[];
}

/** A place that does not answer within this has nothing, ms. */
const patience = 1_500;

/** As what a place is listed. */
export const localPlace = (baseUrl: string): Pick<LocalService, 'key' | 'label' | 'baseUrl'> => ({
  key: `local ${baseUrl}`,
  label:
    usualPlaces.find((each) => each.baseUrl === baseUrl)?.label ??
    `${new URL(baseUrl).host}（本机）`,
  baseUrl,
});

/** The addresses that `LOCAL_MODELS` names; empty: nobody is looked for. */
export const localAddresses = (word: string): string[] => {
  if (word === 'off') return [];
  if (word === 'on') return usualPlaces.map(({ baseUrl }) => baseUrl);
  return word.split(',').map((each) => each.trim().replace(/\/+$/, ''));
};

/** What answers there and has models. */
export const findLocalServices = async (
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<LocalService[]> => {
  const asked = await Promise.allSettled(
    addresses.map(async (baseUrl) => ({
      ...localPlace(baseUrl),
      models: await listModels(
        { baseUrl, apiKey: '' },
        AbortSignal.any([signal, AbortSignal.timeout(patience)]),
      ),
    })),
  );
  return asked.flatMap((each) =>
    each.status === 'fulfilled' && each.value.models.length > 0 ? [each.value] : [],
  );
};
