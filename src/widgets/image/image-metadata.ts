import { useQuery } from '@tanstack/react-query';
import { api } from '@/platform/api.ts';

/** What can be chosen at a model of pictures: checkpoints, LoRAs, styles and so on, by their labels. */
export const useImageMetadata = (model: string, enabled = true) =>
  useQuery({
    queryKey: ['imageMetadata', model],
    queryFn: ({ signal }) => api.imageMetadata({ model }, { signal, quiet: true }),
    staleTime: 5 * 60_000,
    enabled,
    meta: { steady: true },
  });
