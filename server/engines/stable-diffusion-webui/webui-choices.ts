import * as z from 'zod/mini';
import type { ImageChoices } from '../image-engine.ts';
import { unsuitable } from '../image-wire.ts';
import { groupedKinds, namedKinds } from './control-kinds.ts';
import type { Webui } from './webui.ts';

const bestUpscalers = ['R-ESRGAN 4x+', '4x-UltraSharp', 'Lanczos'];

const names = z.array(z.looseObject({ name: z.string() }));
const checkpoints = z.array(z.looseObject({ title: z.string(), model_name: z.string() }));
const loras = z.array(z.looseObject({ name: z.string(), alias: z.nullish(z.string()) }));
const controlTypes = z.object({
  control_types: z.record(
    z.string(),
    z.looseObject({ module_list: z.array(z.string()), model_list: z.array(z.string()) }),
  ),
});
const moduleList = z.looseObject({ module_list: z.array(z.string()) });
const modelList = z.looseObject({ model_list: z.array(z.string()) });

/** What can be chosen at the service, and whether it takes backgrounds away. @throws ImageEngineError */
export const readChoices = async (
  { call, callIfThere, isThere }: Webui,
  signal: AbortSignal,
): Promise<{ choices: ImageChoices; cutsOut: boolean }> => {
  const [models, chosen, loraList, styles, samplers, upscalers, groups, cutsOut] =
    await Promise.all([
      call('sdapi/v1/sd-models', checkpoints, signal),
      callIfThere(
        'sdapi/v1/options',
        z.looseObject({ sd_model_checkpoint: z.nullish(z.string()) }),
        signal,
      ),
      callIfThere('sdapi/v1/loras', loras, signal),
      callIfThere('sdapi/v1/prompt-styles', names, signal),
      callIfThere('sdapi/v1/samplers', names, signal),
      callIfThere('sdapi/v1/upscalers', names, signal),
      callIfThere('controlnet/control_types', controlTypes, signal),
      isThere('rembg', signal),
    ]);
  let kinds = groups ? groupedKinds(groups.control_types) : [];
  if (!groups) {
    const modules = await callIfThere('controlnet/module_list', moduleList, signal);
    const fitting = modules && (await callIfThere('controlnet/model_list', modelList, signal));
    if (modules && fitting) kinds = namedKinds(modules.module_list, fitting.model_list);
  }
  const known = {
    checkpoints: models.map(({ title, model_name: label }) => ({ name: title, label })),
    defaultCheckpoint: chosen?.sd_model_checkpoint ?? models[0]?.title ?? '',
    loras: (loraList ?? []).map(({ name, alias }) => ({ key: name, label: alias || name })),
    styles: (styles ?? [])
      .filter(({ name }) => name.toLowerCase() !== 'none')
      .map(({ name }) => ({ name, label: name })),
    samplers: (samplers ?? []).map(({ name }) => name),
    upscalers: (upscalers ?? []).map(({ name }) => name).filter((name) => name !== 'None'),
    controlTypes: kinds,
  };
  return { choices: known, cutsOut };
};

/** The kind of control that people name by itself or by one of its modules. @throws ImageEngineError */
export const controlKind = ({ controlTypes }: ImageChoices, module: string) => {
  const kind = controlTypes.find(
    (each) => each.type.toLowerCase() === module.toLowerCase() || each.modules.includes(module),
  );
  if (!kind) throw unsuitable('画图服务没有这种构图控制，请换一种');
  return { ...kind, module: kind.modules.includes(module) ? module : kind.modules[0] };
};

/** One of the names that the service has: the one that was asked for, else its best all-rounder. */
export const upscalerFor = ({ upscalers }: ImageChoices, wanted: string | undefined): string => {
  if (wanted !== undefined && upscalers.length > 0 && !upscalers.includes(wanted))
    throw unsuitable('画图服务没有这种放大算法，请换一种');
  if (wanted !== undefined) return wanted;
  return (
    bestUpscalers.find((each) => upscalers.includes(each)) ??
    upscalers.find((each) => /esrgan|sharp/i.test(each)) ??
    upscalers[0] ??
    'None'
  );
};
