import type { SearchKind } from '#contract/manage-model.ts';
import type { Settings } from '#server/settings.ts';
import type { ChannelRow } from './model.store.ts';

/** A service that this process has in its environment. */
export interface Service {
  /** Of its channel. */
  key: string;
  kind: Exclude<ChannelRow['kind'], 'built-in' | 'embedding' | 'replicate' | SearchKind>;
  /** Names it for people. */
  label: string;
  baseUrl: string;
  /** Key, password or secret; empty: none. */
  secret: string;
  /** Its share of what several services of a model get. */
  weight: number;
}

const openAiBaseUrl = 'https://api.openai.com/v1';

const weighted = (
  kind: 'stable-diffusion-webui' | 'midjourney',
  addresses: readonly string[],
  secret: string,
): Service[] =>
  [...new Map(addresses.map((address) => [address.split('#', 1)[0] ?? '', address]))].map(
    ([baseUrl, address]) => ({
      key: `${kind} ${baseUrl}`,
      kind,
      label: new URL(baseUrl).hostname,
      baseUrl,
      secret,
      weight: Number(new URL(address).hash.slice(1) || 1),
    }),
  );

/** @throws Error for an address that is none */
export const environmentServices = (settings: Settings): Service[] => {
  const { openaiApiKey, sdWebuiUrls, sdWebuiAuth, mjProxyUrls, mjProxySecret } = settings;
  const openAi = settings.openaiBaseUrl || (openaiApiKey === '' ? '' : openAiBaseUrl);
  if (openAi !== '' && !URL.canParse(openAi))
    throw new Error(`OPENAI_BASE_URL 应为一个网址，现在是“${openAi}”`);
  if (settings.stabilityApiKey !== '' && !URL.canParse(settings.stabilityBaseUrl))
    throw new Error(`STABILITY_BASE_URL 应为一个网址，现在是“${settings.stabilityBaseUrl}”`);
  return [
    ...(openAi === ''
      ? []
      : [
          {
            key: 'environment',
            kind: 'openai-compatible' as const,
            label: new URL(openAi).hostname,
            baseUrl: openAi,
            secret: openaiApiKey,
            weight: 1,
          },
        ]),
    ...(settings.stabilityApiKey === ''
      ? []
      : [
          {
            key: 'stability',
            kind: 'stability' as const,
            label: new URL(settings.stabilityBaseUrl).hostname,
            baseUrl: settings.stabilityBaseUrl,
            secret: settings.stabilityApiKey,
            weight: 1,
          },
        ]),
    ...weighted('stable-diffusion-webui', sdWebuiUrls, sdWebuiAuth),
    ...weighted('midjourney', mjProxyUrls, mjProxySecret),
  ];
};
