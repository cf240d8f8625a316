import { loadOptional } from '#server/optional-packages.ts';

/** mediabunny looks for these where a browser has them; sound that is not packed it reads without. */
export const offerDecoder = async (): Promise<void> => {
  const { AudioData, AudioDecoder, EncodedAudioChunk } = await loadOptional('@napi-rs/webcodecs');
  Object.assign(globalThis, { AudioData, AudioDecoder, EncodedAudioChunk });
};
