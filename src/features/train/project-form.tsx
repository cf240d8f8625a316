import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { Form } from '#src/ui/form/form.tsx';
import type { Field, FormValue, FormValues } from '#src/ui/form/field.ts';
import type { Out } from '#contract/calls.ts';
import type { ProjectSettings, TrainModel } from '#contract/train.ts';
import { projectTypes, trainLimits, trainTexts } from '#contract/train-limits.ts';
import { isTranslation, settingsOf, type Place } from './projects.ts';

/** What does the work, by what is connected. */
export const useEngines = () => useCall('trainEngines', {}, { staleTime: 60_000 });
/** Whether a knowledge base learns for nothing: no price has to be told first. */
export const useLearnsFree = (): boolean => useEngines().data?.embedding.length === 0;

const range = (limits: { min: number; max: number }) => ({ min: limits.min, max: limits.max });

const linesOf = (text: FormValue): string[] =>
  (typeof text === 'string' ? text : '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

type Engines = Out<'trainEngines'>;

const isType = (type: number) => (values: FormValues) => String(values['type']) === String(type);
const knowledge = isType(projectTypes.knowledge);
const lora = isType(projectTypes.lora);
const advanced = (values: FormValues) => values['advanced'] === true;
const advancedBase = (values: FormValues) => knowledge(values) && advanced(values);

const kindField: Field = {
  name: 'type',
  label: '要训练什么',
  kind: 'choice',
  required: true,
  options: [
    { value: '0', label: '知识库' },
    { value: '1', label: '画风 LoRA' },
  ],
};

/** What is chosen once and not changed any more. */
const keyField: Field = {
  name: 'key',
  label: '模型唯一Key',
  kind: 'text',
  max: trainLimits.key,
  placeholder: '不填：由名称得到',
  hint: '提问或作画时用它来称呼，只能是英文字母、数字和下划线，不能与别人的相同',
  when: advanced,
  check: (value) => (/^\w*$/.test(String(value)) ? undefined : '只能用英文字母、数字和下划线'),
};

const nameFields: readonly Field[] = [
  {
    name: 'name',
    label: '模型名称',
    kind: 'text',
    max: trainLimits.name,
    required: true,
    missing: trainTexts.name,
  },
  {
    name: 'desc',
    kind: 'long',
    lines: 2,
    max: trainLimits.description,
    placeholder: '里面是什么，适合问什么',
  },
];

/** How a knowledge base answers. */
const answerFields: readonly Field[] = [
  {
    name: 'questions',
    label: '示例问题',
    kind: 'long',
    lines: 3,
    max: (trainLimits.question + 1) * trainLimits.questions,
    placeholder: '年假有几天？\n差旅费怎么报销？',
    hint: `一行一个，最多 ${trainLimits.questions} 个；提问的人点一下就能问`,
    when: knowledge,
    check: (value) =>
      linesOf(value).length > trainLimits.questions
        ? `最多 ${trainLimits.questions} 个`
        : linesOf(value).some((line) => line.length > trainLimits.question)
          ? `每个最多 ${trainLimits.question} 字`
          : undefined,
  },
  {
    name: 'instruction',
    label: '怎样回答',
    kind: 'long',
    lines: 2,
    max: trainLimits.instruction,
    placeholder: '例如：先说结论，再列出条款；语气正式',
    hint: '连接的模型会照着做，别人看不到',
    when: knowledge,
  },
];

/** How a knowledge base is cut into passages. */
const passageFields: readonly Field[] = [
  {
    name: 'chunk_size',
    label: '每段最多',
    kind: 'number',
    unit: '字',
    ...range(trainLimits.chunk),
    hint: '建议 500 到 1500。短的找得准，长的上下文全',
    when: advancedBase,
  },
  {
    name: 'separator',
    kind: 'text',
    max: 20,
    placeholder: '不填：按段落和句子来分',
    hint: '写 \\n\\n 表示空行',
    when: advancedBase,
  },
];

const embeddingField = (names: readonly string[]): Field => ({
  name: 'model',
  label: '向量模型',
  kind: 'choice',
  options: [
    ...names.map((name) => ({ value: name, label: name })),
    { value: 'built-in', label: '内置（免费）' },
  ],
  hint: '连接的模型按 token 的 0.05 倍收费，100 万 tokens 约 1 元；本机的不收费',
  when: knowledge,
});

const loraFields: readonly Field[] = [
  {
    name: 'style',
    label: '底模',
    kind: 'choice',
    options: [
      { value: 'SD-1.5', label: 'SD-1.5' },
      { value: 'SD-XL', label: 'SD-XL' },
    ],
    when: lora,
  },
  {
    name: 'batch_size',
    kind: 'number',
    ...range(trainLimits.batch),
    hint: '1 到 64，一次看几张',
    when: lora,
  },
  {
    name: 'epoch',
    kind: 'number',
    ...range(trainLimits.epoch),
    hint: '1 到 10，每张看几遍',
    when: lora,
  },
];

const translationFields = (translators: Engines['translate']): readonly Field[] => [
  {
    name: 'direction',
    label: '方向',
    kind: 'choice',
    required: true,
    options: [
      { value: '1', label: '英文 → 中文' },
      { value: '2', label: '中文 → 英文' },
    ],
  },
  ...(translators.length > 0
    ? [
        {
          name: 'chat_model',
          label: '由谁来译',
          kind: 'choice' as const,
          options: [
            { value: '', label: '最省的' },
            ...translators.map(({ name, label }) => ({ value: name, label })),
          ],
        },
      ]
    : []),
  {
    name: 'bilingual',
    label: '双语对照',
    kind: 'switch',
    hint: '每段原文后面跟着译文',
  },
  {
    name: 'glossary',
    kind: 'long',
    lines: 3,
    placeholder: 'Magpie Bridge = 鹊桥\nlatency = 延迟',
    hint: '一行一个，原文 = 译文；全篇都照它译',
  },
];

const fieldsFor = (
  place: Place,
  engines: Engines | undefined,
  model: TrainModel | null,
): readonly Field[] => [
  ...(place === 'train' && !model ? [kindField] : []),
  ...nameFields,
  ...answerFields,
  {
    name: 'advanced',
    label: '高级',
    kind: 'switch',
    hint: model ? '每段多长、怎样分段' : '唯一 Key、每段多长等，不改也可以',
    ...(model ? { when: knowledge } : {}),
  },
  ...(model ? [] : [keyField]),
  ...passageFields,
  ...(engines && engines.embedding.length > 0 ? [embeddingField(engines.embedding)] : []),
  ...loraFields,
  ...(place === 'translate' ? translationFields(engines?.translate ?? []) : []),
];

const glossaryText = (settings: ProjectSettings): string =>
  settings.glossary.map(({ source, target }) => `${source} = ${target}`).join('\n');

const glossaryOf = (text: string) =>
  text.split('\n').flatMap((line) => {
    const [source = '', ...rest] = line.split(/\s*(?:=|→|\t)\s*/);
    const target = rest.join('=').trim();
    return source.trim() === '' || target === ''
      ? []
      : [{ source: source.trim().slice(0, 100), target: target.slice(0, 100) }];
  });

/** Asks for what a project is: a new one, or one that is there. */
export const ProjectForm = ({
  place,
  model = null,
  submit = model ? '保存' : '下一步',
  onDone,
}: {
  place: Place;
  model?: TrainModel | null;
  submit?: string;
  onDone: (model: TrainModel) => void;
}) => {
  const engines = useEngines().data;
  const settings = model && settingsOf(model);
  const initial: FormValues = {
    type: String(place === 'translate' ? projectTypes.translation : (model?.type ?? 0)),
    name: model?.name ?? '',
    advanced: false,
    key: '',
    desc: model?.desc ?? '',
    chunk_size: settings?.chunk_size ?? trainLimits.chunk.default,
    questions: (settings?.questions ?? []).join('\n'),
    instruction: settings?.instruction ?? '',
    separator: settings?.separator ?? '',
    model: settings?.model ?? '',
    style: settings && !isTranslation(model) ? String(settings.type) : 'SD-1.5',
    batch_size: settings?.batch_size ?? trainLimits.batch.default,
    epoch: settings?.epoch ?? trainLimits.epoch.default,
    direction: settings && isTranslation(model) ? String(settings.type) : '1',
    chat_model: settings?.chat_model ?? '',
    bilingual: settings?.bilingual ?? false,
    glossary: settings ? glossaryText(settings) : '',
  };
  const send = async (values: FormValues) => {
    const translation = place === 'translate';
    const kind = translation ? projectTypes.translation : Number(values['type'] ?? initial['type']);
    const wanted = translation
      ? {
          type: Number(values['direction']),
          chat_model: String(values['chat_model'] ?? ''),
          bilingual: values['bilingual'] === true,
          glossary: glossaryOf(String(values['glossary'] ?? '')),
        }
      : kind === projectTypes.lora
        ? {
            type: String(values['style']),
            batch_size: Number(values['batch_size'] ?? trainLimits.batch.default),
            epoch: Number(values['epoch'] ?? trainLimits.epoch.default),
          }
        : {
            questions: linesOf(values['questions']),
            instruction: String(values['instruction'] ?? ''),
            separator: String(values['separator'] ?? ''),
            chunk_size: Number(values['chunk_size'] ?? trainLimits.chunk.default),
            model: String(values['model'] ?? ''),
          };
    const name = String(values['name'] ?? '');
    const desc = String(values['desc'] ?? '');
    const options = { quiet: true };
    const { model: made } = model
      ? await api.setTrainModel({ model_id: model.id, name, desc, settings: wanted }, options)
      : await api.newTrainModel(
          {
            name,
            ...(typeof values['key'] === 'string' && values['key'] !== ''
              ? { key: values['key'] }
              : {}),
            type: kind,
            desc,
            settings: wanted,
          },
          options,
        );
    onDone(made);
  };
  return (
    <Form
      fields={fieldsFor(place, engines, model)}
      initial={initial}
      submit={submit}
      draft={`train.${place}.${model?.id ?? 'new'}`}
      onSubmit={send}
    />
  );
};
