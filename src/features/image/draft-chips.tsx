import { AlongChip } from '#src/widgets/image/along-chip.tsx';
import {
  blendOf,
  changeImageDraft,
  changeImageParameters,
  type ImageDraft,
} from '#src/widgets/image/image-draft.ts';
import type { ImageToolTab } from '#src/widgets/image/image-tool-store.ts';
import { Removable } from '#src/widgets/composer/removable.tsx';
import { useImageMetadata, useModuleLabel } from '#src/widgets/image/image-metadata.ts';
import { styleLabel } from '#contract/image-family.ts';
import type { ImageParameters } from '#contract/image.ts';
import type { Model } from '#contract/model.ts';
import kitCss from '#src/widgets/composer/send-kit.module.css';

interface Sticky {
  key: string;
  name: string;
  label: string;
  without: ImageParameters;
}

const none: ImageParameters = {};

/** What was once chosen in the tool and goes along with every image until it is taken away. */
const StickyChips = ({
  uuid,
  model,
  parameters = none,
  onOpen,
}: {
  uuid: string;
  model: Model;
  parameters: ImageParameters | undefined;
  onOpen: (tab: ImageToolTab) => void;
}) => {
  const { style, lora = [], seed, checkpoint } = parameters;
  const any = style !== undefined || checkpoint !== undefined || lora.length > 0;
  const known = useImageMetadata(model.name, any).data;
  const told = known?.styles.find(({ name }) => name === style)?.label;
  const base = [...(known?.checkpoints ?? []), ...(model.image?.checkpoints ?? [])];
  const chips: (Sticky & { tab: 'style' | 'checkpoint' | 'parameter' })[] = [
    ...(style === undefined
      ? []
      : [
          {
            key: 'style',
            name: '风格',
            label: told ?? styleLabel(style),
            without: { style: undefined },
            tab: 'style' as const,
          },
        ]),
    ...lora.map(({ key, weight }) => ({
      key: `lora ${key}`,
      name: 'LoRA',
      label: `${known?.loras.find((each) => each.key === key)?.label ?? key} ${weight}%`,
      without: {
        lora: lora.length === 1 ? undefined : lora.filter((each) => each.key !== key),
      },
      tab: 'checkpoint' as const,
    })),
    ...(checkpoint === undefined
      ? []
      : [
          {
            key: 'checkpoint',
            name: '底模',
            label: base.find(({ name }) => name === checkpoint)?.label ?? checkpoint,
            without: { checkpoint: undefined },
            tab: 'checkpoint' as const,
          },
        ]),
    ...(seed === undefined
      ? []
      : [
          {
            key: 'seed',
            name: '种子',
            label: String(seed),
            without: { seed: undefined },
            tab: 'parameter' as const,
          },
        ]),
  ];
  return chips.map(({ key, name, label, without, tab }) => (
    <AlongChip
      key={key}
      change={`修改${name}：${label}`}
      without={`不用${name} ${label}`}
      onChange={() => onOpen(tab)}
      onRemove={() => changeImageParameters(uuid, without)}
    >
      {name} {label}
    </AlongChip>
  ));
};

/** What goes along with the words of the next images. */
export const DraftChips = ({
  uuid,
  model,
  draft,
  share,
  onOpen,
}: {
  uuid: string;
  model: Model | undefined;
  draft: ImageDraft;
  /** Of an image that is on its way to be the base; null: none. */
  share: number | null;
  onOpen: (tab: ImageToolTab) => void;
}) => {
  const { base_image = '', controlnet_image = '', controlnet_module = '', parameters } = draft;
  const { inspired_by } = draft;
  const moduleLabel = useModuleLabel(model?.name ?? '', model ? controlnet_module : '');
  const blend = blendOf(draft, model);
  const { style, seed, checkpoint, lora } = parameters ?? none;
  const sticky = [style, seed, checkpoint, lora].some((each) => each !== undefined);
  const bare = base_image === '' && blend.length === 0 && controlnet_image === '';
  if (bare && !sticky && share === null && inspired_by === undefined) return null;
  return (
    <div className={kitCss.sendChips}>
      {share !== null && (
        <span className={kitCss.sendChip} role="status">
          正在加上参考图 {Math.round(share * 100)}%
        </span>
      )}
      {model && sticky && (
        <StickyChips uuid={uuid} model={model} parameters={parameters} onOpen={onOpen} />
      )}
      {blend.length > 0 && (
        <AlongChip
          image={blend[0]?.url ?? ''}
          change={`修改要融合的 ${blend.length} 张图片`}
          without="不融图"
          onChange={() => onOpen('img2img')}
          onRemove={() => changeImageParameters(uuid, { blend: undefined })}
        >
          融图 {blend.length} 张
        </AlongChip>
      )}
      {base_image !== '' && (
        <AlongChip
          image={base_image}
          change="修改参考图"
          without="不用参考图"
          onChange={() => onOpen('img2img')}
          onRemove={() =>
            changeImageDraft(uuid, {
              base_image: undefined,
              strength: undefined,
              resize_mode: undefined,
            })
          }
        >
          参考图
        </AlongChip>
      )}
      {inspired_by !== undefined && (
        <Removable
          words="注明源自"
          label="不注明源自哪张图片"
          onRemove={() => changeImageDraft(uuid, { inspired_by: undefined })}
        />
      )}
      {controlnet_image !== '' && (
        <Removable
          words={`构图 ${moduleLabel}`}
          label="不用构图控制"
          onRemove={() => changeImageDraft(uuid, { controlnet_image: undefined })}
        />
      )}
    </div>
  );
};
