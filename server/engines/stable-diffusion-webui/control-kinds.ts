import type { ImageChoices } from '../image-engine.ts';

interface Kind {
  type: string;
  label: string;
  /** The service's own names of it, in small letters. */
  names: readonly string[];
  /** How its modules and models begin. */
  modules: RegExp;
  models: RegExp;
}

/** The kinds of document 2 §9, by the names that the controlnet extension has for them. */
const kinds: readonly Kind[] = [
  { type: 'Canny', label: '硬边缘', names: ['canny'], modules: /^canny/, models: /canny/ },
  { type: 'Lineart', label: '线稿', names: ['lineart'], modules: /^lineart/, models: /lineart/ },
  {
    type: 'SoftEdge',
    label: '软边缘',
    names: ['softedge'],
    modules: /^(softedge|hed|pidinet)/,
    models: /softedge|hed/,
  },
  {
    type: 'Scribble',
    label: '涂鸦',
    names: ['scribble', 'scribble/sketch', 'sketch'],
    modules: /^(scribble|fake_scribble)/,
    models: /scribble|sketch/,
  },
  { type: 'MLSD', label: '直线', names: ['mlsd'], modules: /^mlsd/, models: /mlsd/ },
  {
    type: 'Seg',
    label: '语义分割',
    names: ['seg', 'segmentation'],
    modules: /^(seg|oneformer)/,
    models: /_seg/,
  },
  { type: 'Depth', label: '深度', names: ['depth'], modules: /^depth/, models: /depth/ },
  {
    type: 'OpenPose',
    label: '姿势',
    names: ['openpose'],
    modules: /^(openpose|dw_openpose)/,
    models: /openpose/,
  },
  {
    type: 'Normal',
    label: '法线',
    names: ['normal', 'normalmap'],
    modules: /^normal/,
    models: /normal/,
  },
  {
    type: 'IP2P',
    label: '按指令修改',
    names: ['ip2p', 'instructp2p'],
    modules: /^none$/,
    models: /ip2p/,
  },
  {
    type: 'Tile',
    label: '分块细化',
    names: ['tile', 'tile/blur'],
    modules: /^(tile|blur)/,
    models: /tile/,
  },
  {
    type: 'Reference',
    label: '参考',
    names: ['reference'],
    modules: /^reference/,
    models: /^none$/,
  },
  {
    type: 'Shuffle',
    label: '打乱重组',
    names: ['shuffle'],
    modules: /^shuffle/,
    models: /shuffle/,
  },
];

type ControlType = ImageChoices['controlTypes'][number];

/** The kinds that a service has, as it groups them itself. */
export const groupedKinds = (
  groups: Readonly<Record<string, { module_list: string[]; model_list: string[] }>>,
): ControlType[] =>
  kinds.flatMap(({ type, label, names }) => {
    const group = Object.entries(groups).find(([name]) => names.includes(name.toLowerCase()))?.[1];
    if (!group) return [];
    const modules = group.module_list.filter((name) => name.toLowerCase() !== 'none');
    return [
      {
        type,
        label,
        modules: modules.length > 0 ? modules : ['none'],
        models: group.model_list.filter((name) => name.toLowerCase() !== 'none'),
      },
    ];
  });

/** The same of a service that groups nothing: by the names of its modules and models. */
export const namedKinds = (modules: readonly string[], models: readonly string[]): ControlType[] =>
  kinds.flatMap((kind) => {
    const own = modules.filter((name) => kind.modules.test(name.toLowerCase()));
    const fitting = models.filter((name) => kind.models.test(name.toLowerCase()));
    if (own.length === 0 || (fitting.length === 0 && kind.type !== 'Reference')) return [];
    return [{ type: kind.type, label: kind.label, modules: own, models: fitting }];
  });
