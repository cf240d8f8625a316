import { familyRules } from '#contract/image-family.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { toast } from '#src/platform/toast.ts';
import { useState } from 'react';
import { Choices } from './choices.tsx';
import { SampleImage } from './shape-image.tsx';
import { useTool } from './tool-context.ts';
import css from './image-tool.module.css';

/** LoRAs of one request at most. */
const mostLoras = 10;
/** A longer list can be searched. */
const searchFrom = 8;

const factorText = (factor: number | null | undefined): string =>
  factor === null || factor === undefined ? '' : factor === 0 ? '免费' : `×${factor}`;

const Loras = () => {
  const { image, metadata, parameters, setParameters } = useTool();
  const [query, setQuery] = useState('');
  const chosen = parameters.lora ?? [];
  const known = metadata.data?.loras ?? [];
  const labelOf = (key: string) => known.find((each) => each.key === key)?.label ?? key;
  const set = (lora: typeof chosen) =>
    setParameters({ lora: lora.length === 0 ? undefined : lora });
  const sampled = image.family === 'built-in';
  const wanted = query.trim().toLowerCase();
  const others = known.filter(
    ({ key, label }) =>
      !chosen.some((each) => each.key === key) && `${key} ${label}`.toLowerCase().includes(wanted),
  );
  return (
    <section className={css.toolSection} aria-label="LoRA">
      <h3>LoRA</h3>
      <p className="field-hint">
        {image.family === 'built-in' ? '现成的色调与质感' : '训练过的风格或人物'}
        ，可以叠加几个，各有权重
      </p>
      <ul className={css.toolLoras}>
        {chosen.map(({ key, weight }) => (
          <li key={key}>
            <SliderField
              label={labelOf(key)}
              min={familyRules.lora.min}
              max={familyRules.lora.max}
              value={weight}
              onChange={(next) =>
                set(chosen.map((each) => (each.key === key ? { key, weight: next } : each)))
              }
            />
            <Button
              kind="ghost"
              size="icon"
              aria-label={`移除 ${labelOf(key)}`}
              onClick={() => set(chosen.filter((each) => each.key !== key))}
            >
              <Icon name="close" />
            </Button>
          </li>
        ))}
      </ul>
      {known.length > searchFrom && (
        <input
          className="text-input"
          type="search"
          aria-label="搜索 LoRA"
          placeholder="搜索 LoRA"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      )}
      <div className={sampled ? css.toolTiles : css.toolChips}>
        {others.slice(0, 60).map(({ key, label }) => (
          <button
            key={key}
            type="button"
            className={sampled ? css.toolTile : 'chip'}
            onClick={() => {
              if (chosen.length >= mostLoras) toast(`最多叠加 ${mostLoras} 个 LoRA`, 'error');
              else set([...chosen, { key, weight: familyRules.lora.default }]);
            }}
          >
            {sampled ? (
              <>
                <SampleImage name={`lora-${key}`} />
                <span>{label}</span>
              </>
            ) : (
              <>
                <Icon name="plus" size={14} />
                {label}
              </>
            )}
          </button>
        ))}
      </div>
      {others.length === 0 && wanted !== '' && <p className="field-hint">没有找到“{query}”。</p>}
    </section>
  );
};

export const CheckpointTab = () => {
  const { image, metadata, parameters, setParameters } = useTool();
  if (metadata.isError && image.checkpoints.length === 0) return <QueryFailed query={metadata} />;
  if (metadata.isPending && image.checkpoints.length === 0) return <Skeleton lines={5} />;
  const listed = metadata.data?.checkpoints ?? [];
  const checkpoints = listed.length > 0 ? listed : image.checkpoints;
  const usual = metadata.data?.default_checkpoint || image.default_checkpoint;
  const priced = (name: string) =>
    factorText(image.checkpoints.find((each) => each.name === name)?.factor);
  return (
    <>
      {checkpoints.length > 0 && (
        <Choices
          label="底模"
          value={parameters.checkpoint ?? usual}
          choices={checkpoints.map(({ name, label }) => ({
            value: name,
            label,
            hint: [name === usual ? '默认' : '', priced(name)].filter((each) => each).join(' · '),
          }))}
          onChange={(name) => setParameters({ checkpoint: name === usual ? undefined : name })}
        />
      )}
      {(metadata.data?.loras.length ?? 0) > 0 && <Loras />}
    </>
  );
};
