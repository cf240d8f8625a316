import { changeImageParameters } from '#src/widgets/image/image-draft.ts';
import { useImageMetadata } from '#src/widgets/image/image-metadata.ts';
import { Icon } from '#src/ui/icon.tsx';
import { styleLabel } from '#contract/image-prompt.ts';
import type { ImageParameters } from '#contract/image.ts';
import type { Model } from '#contract/model.ts';
import kitCss from '#src/widgets/composer/send-kit.module.css';
import drawCss from '#src/widgets/image/image-session.module.css';

interface Sticky {
  key: string;
  name: string;
  label: string;
  without: ImageParameters;
}

const none: ImageParameters = {};

/** What was once chosen in the tool and goes along with every image until it is taken away. */
export const StickyChips = ({
  uuid,
  model,
  parameters = none,
  onOpen,
}: {
  uuid: string;
  model: Model;
  parameters: ImageParameters | undefined;
  onOpen: (tab: 'style' | 'checkpoint' | 'parameter') => void;
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
    <span key={key} className={`${kitCss.sendChip} ${drawCss.drawBase} ${drawCss.drawSticky}`}>
      <button
        type="button"
        className={drawCss.drawBaseView}
        aria-label={`修改${name}：${label}`}
        onClick={() => onOpen(tab)}
      >
        {name} {label}
      </button>
      <button
        type="button"
        aria-label={`不用${name} ${label}`}
        onClick={() => changeImageParameters(uuid, without)}
      >
        <Icon name="close" size={14} />
      </button>
    </span>
  ));
};
