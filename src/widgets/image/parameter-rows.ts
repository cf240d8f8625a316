import { styleLabel } from '#contract/image-family.ts';
import type { ImageParameters } from '#contract/image.ts';

const parameterNames: Partial<Record<keyof ImageParameters, string>> = {
  aspect: '比例',
  version: '版本',
  is_niji: '动漫',
  style: '风格',
  chaos: '变化',
  stylize: '风格化',
  stop: '停止',
  weird: '怪异',
  quality: '质量',
  tile: '平铺',
  no: '不要',
  cw: '角色权重',
  sw: '风格权重',
  random_style: '随机风格',
  weight: '参考图权重',
  style_version: '风格版本',
  repeat: '重复',
  checkpoint: '底模',
  negative_prompt: '负面描述',
  steps: '步数',
  cfg_scale: '提示词相关性',
  sampler: '采样器',
  hd: '高清',
  revise: '扩写',
  logo_add: '水印',
  upscaler: '放大算法',
  bg_color: '背景色',
};

const shown = (value: unknown): string => {
  if (value === true) return '是';
  if (value === false) return '否';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

/** The parameters in words, for people: name and value. */
export const parameterRows = (parameters: ImageParameters): [name: string, value: string][] => {
  const rows: [string, string][] = [];
  for (const [key, name] of Object.entries(parameterNames)) {
    const said = shown(parameters[key as keyof ImageParameters]);
    const value = key === 'style' ? styleLabel(said) : said;
    if (value !== '') rows.push([name, value]);
  }
  for (const { key, weight } of parameters.lora ?? []) rows.push(['LoRA', `${key} ${weight}%`]);
  if (parameters.cref?.length) rows.push(['角色参考', `${parameters.cref.length} 张`]);
  if (parameters.sref?.length) rows.push(['风格参考', `${parameters.sref.length} 张`]);
  return rows;
};
