import { modelTypes } from '#contract/kinds.ts';
import { searches } from '#contract/manage-model.ts';
import { isChatService } from '#server/engines/chat-service.ts';
import { builtInModel, type builtInImages, type createBuiltInMedia } from './built-in-models.ts';
import { priceOfName } from './chat-price-by-name.ts';
import { imageOfferOf, serviceModels, type ImageOffer } from './image-models.ts';
import { mediaOfferOf, stabilityFilm, type MediaOffer } from './media-models.ts';
import { colorOf, isChatModel, isLowCost, isVisionModel, prettyLabel } from './model-names.ts';
import type { ChannelRow, NewModel } from './model.store.ts';

/** What is offered of a model by its name, where nobody said otherwise. */
const named = (name: string) => ({ name, label: prettyLabel(name), color: colorOf(name) });

const chatModel = (name: string, sort: number): NewModel => ({
  ...named(name),
  type: modelTypes.chat,
  vision: isVisionModel(name),
  sort,
  ...priceOfName(name),
});

/** A model that lies on this machine and writes, hears or speaks. */
export interface LocalOffer {
  key: string;
  kind: 'chat' | 'hear' | 'speak';
  label: string;
}

/** It is free of charge; one that chats does so in short talks. */
export const localOffer = ({ key, kind, label }: LocalOffer): NewModel => {
  const free = { label, factor: 0, promptFactor: 0, vipExcluded: false, paidOnly: false };
  return kind === 'chat'
    ? { ...chatModel(key, 30), ...free, vision: false, maxPrompt: 2500 }
    : {
        ...named(key),
        ...free,
        type: kind === 'hear' ? modelTypes.speechToText : modelTypes.textToSpeech,
        sort: 30,
        remark: '在本机上，不联网（sherpa-onnx）',
      };
};

const imageModel = (name: string, { sort, factor, vipExcluded, image }: ImageOffer): NewModel => ({
  ...named(name),
  type: modelTypes.image,
  sort,
  factor,
  vipExcluded,
  image,
});

const mediaModel = (name: string, { type, factor, vipExcluded, sort }: MediaOffer): NewModel => ({
  ...named(name),
  type,
  sort,
  factor,
  vipExcluded,
});

/** What costs little stands before the rest of a service's models. */
const sortByCost = (name: string): number => (isLowCost(name) ? 50 : 100);

/** Those of a service's models that one can chat, draw, film or speak with, each once. */
export const modelsOfNames = (
  names: readonly string[],
  sortOf: (name: string, at: number) => number = sortByCost,
): NewModel[] =>
  [...new Set(names)].flatMap((name, at): NewModel[] => {
    const image = imageOfferOf(name);
    if (image) return [imageModel(name, image)];
    const media = mediaOfferOf(name);
    if (media) return [mediaModel(name, media)];
    return isChatModel(name) ? [chatModel(name, sortOf(name, at))] : [];
  });

/** What a service of this kind offers under these names; those that nobody can use are left out. */
export const plan = (
  kind: Exclude<ChannelRow['kind'], 'built-in'>,
  names: readonly string[],
): NewModel[] => {
  if (isChatService(kind)) return modelsOfNames(names);
  if (kind === 'embedding' || kind === 'replicate' || searches(kind)) return [];
  if (kind === 'stability') {
    const { name, label, ...film } = stabilityFilm;
    return [{ ...mediaModel(name, film), label }];
  }
  const { name, label, ...model } = serviceModels[kind];
  return [{ ...imageModel(name, model), label }];
};

/** What needs no service. */
export const builtInModels = (builtIn: {
  images: ReturnType<typeof builtInImages>;
  media: ReturnType<typeof createBuiltInMedia>;
}): NewModel[] => [
  {
    name: builtInModel,
    label: '内置助手',
    type: modelTypes.chat,
    color: '#475569',
    remark:
      '内置、免费、不联网。不是神经网络模型：查帮助，摘出附件和知识库的原文，算算术、日期和单位',
    factor: 0,
    sort: 900,
  },
  ...Object.entries(builtIn.images).map(([name, { engine: _engine, ...model }]) => ({
    ...model,
    name,
    type: modelTypes.image,
    factor: 0,
    sort: 910,
  })),
  ...Object.entries(builtIn.media).map(([name, { engines: _engines, ...model }]) => ({
    ...model,
    name,
    factor: 0,
  })),
];
