import type { ImageModel } from '#contract/image.ts';
import { modelTypes } from '#contract/kinds.ts';
import { createBuiltInCanvas } from '#server/engines/built-in-canvas/built-in-canvas.ts';
import type { ImageEngine } from '#server/engines/image-engine.ts';
import {
  createBuiltInSpeakEngine,
  createLocalSpeakEngine,
} from '#server/engines/speech/built-in-speak-engine.ts';
import { createLocalHearEngine } from '#server/engines/speech/local-hear-engine.ts';
import type { HearEngine, SpeakEngine } from '#server/engines/speech/speech-engine.ts';
import { createBuiltInVideoEngine } from '#server/engines/video/built-in-video-engine.ts';
import { canEncodeFilms } from '#server/engines/video/film-encoder.ts';
import type { VideoEngine } from '#server/engines/video/video-engine.ts';
import { isInstalled } from '#server/optional-packages.ts';
import type { Settings } from '#server/settings.ts';
import { canvasImage } from './image-models.ts';
import type { NewModel } from './model.store.ts';
import type { MediaType } from './resolved-model.ts';

/** The model of the built-in assistant. */
export const builtInModel = 'builtin-assistant';

/** What draws without any service, by the name of its model. */
export const builtInImages = (
  settings: Pick<Settings, 'canvasSeconds'>,
): Readonly<
  Record<
    string,
    { label: string; color: string; remark: string; image: ImageModel; engine: ImageEngine }
  >
> => {
  const engine = createBuiltInCanvas({ seconds: settings.canvasSeconds });
  return {
    'builtin-canvas': {
      label: '内置画板',
      color: '#0f766e',
      remark: '内置、免费、不联网。不是神经网络模型：按词语和种子画的程序化图画',
      image: canvasImage([...engine.abilities]),
      engine,
    },
  };
};

/**
 * What films and speaks without any service, by the name of its model; what lacks an optional
 * package is not offered.
 */
export const createBuiltInMedia = (
  settings: Pick<Settings, 'filmSeconds' | 'speechModelDir' | 'voiceModelDir'>,
) => {
  const without = { video: null, speak: null, hear: null };
  const models: Record<
    string,
    Pick<NewModel, 'label' | 'color' | 'remark' | 'sort'> & {
      type: MediaType;
      engines: { video: VideoEngine | null; speak: SpeakEngine | null; hear: HearEngine | null };
    }
  > = {};
  if (canEncodeFilms())
    models['builtin-film'] = {
      label: '内置视频',
      type: modelTypes.video,
      color: '#0e7490',
      remark: '内置、免费、不联网。不是神经网络模型：镜头在图片的远近之间推拉、平移',
      sort: 920,
      engines: { ...without, video: createBuiltInVideoEngine({ seconds: settings.filmSeconds }) },
    };
  if (settings.voiceModelDir !== '')
    models['local-voice'] = {
      label: '本机朗读',
      type: modelTypes.textToSpeech,
      color: '#3f6212',
      remark: '在本机上合成声音，不联网（sherpa-onnx）',
      sort: 925,
      engines: { ...without, speak: createLocalSpeakEngine(settings.voiceModelDir) },
    };
  if (isInstalled('text2wav'))
    models['builtin-voice'] = {
      label: '内置朗读',
      type: modelTypes.textToSpeech,
      color: '#4d7c0f',
      remark: '内置、免费、不联网。不是神经网络模型：espeak-ng 按规则合成的声音',
      sort: 930,
      engines: { ...without, speak: createBuiltInSpeakEngine() },
    };
  if (settings.speechModelDir !== '')
    models['local-speech'] = {
      label: '本机识别',
      type: modelTypes.speechToText,
      color: '#0369a1',
      remark: '在本机上识别语音，不联网（sherpa-onnx）',
      sort: 940,
      engines: { ...without, hear: createLocalHearEngine(settings.speechModelDir) },
    };
  return models;
};
