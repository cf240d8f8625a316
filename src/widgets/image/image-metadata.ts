import { useCall } from '#src/platform/call-query.ts';

/** What can be chosen at a model of images: checkpoints, LoRAs, styles and so on, by their labels. */
export const useImageMetadata = (model: string, enabled = true) =>
  useCall('imageMetadata', { model }, { staleTime: 5 * 60_000, enabled, meta: { steady: true } });

/** What a controlnet module looks for, in words; empty for no module. */
export const useModuleLabel = (model: string, module: string): string => {
  const { data } = useImageMetadata(model, module !== '' && module !== 'none');
  if (module === '' || module === 'none') return '';
  return data?.controlnetTypes.find(({ modules }) => modules.includes(module))?.label ?? '';
};
