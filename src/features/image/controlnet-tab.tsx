import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import { errorText } from '#src/platform/api-error.ts';
import { pickImages } from '#src/widgets/image/image-picker.ts';
import { AnyImage } from '#src/widgets/image/foreign-image.tsx';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { controlKinds, familyRules } from '#contract/image-family.ts';
import { sizeFor } from '#contract/image-size.ts';
import { useState } from 'react';
import { Choices } from './choices.tsx';
import { SketchPad } from './sketch-pad.tsx';
import { useTool, type Metadata } from './tool-context.ts';
import css from './image-tool.module.css';

type ControlType = Metadata['controlnetTypes'][number];

/** The kinds in their usual order; what a service has beside them comes behind. */
const inOrder = (types: readonly ControlType[]): ControlType[] => {
  const place = ({ type }: ControlType) => {
    const at = (controlKinds as readonly string[]).indexOf(type);
    return at < 0 ? controlKinds.length : at;
  };
  return types.toSorted((a, b) => place(a) - place(b));
};

const Detected = ({ url, module }: { url: string; module: string }) => {
  const { model } = useTool();
  const preview = useCall(
    'controlnetDetect',
    { model: model.name, controlnet_module: module, controlnet_image_url: url },
    { ...steady, retry: false },
  );
  const source = preview.data?.image_base64 ?? '';
  return (
    <figure aria-busy={preview.isFetching}>
      {source !== '' ? (
        <img
          src={source.startsWith('data:') ? source : `data:image/png;base64,${source}`}
          alt="模型从控制图里看到的样子"
        />
      ) : preview.isError ? (
        <div className={css.toolDetectedFailed} role="alert">
          <p>{errorText(preview.error)}</p>
          <Button size="small" onClick={() => void preview.refetch()}>
            重试
          </Button>
        </div>
      ) : (
        <div className={css.toolWait} />
      )}
      <figcaption>模型看到的</figcaption>
    </figure>
  );
};

const moduleLabel = (module: string): string => (module === 'none' ? '不处理，直接使用' : module);

const Control = ({ types }: { types: readonly ControlType[] }) => {
  const { image, draft, change } = useTool();
  const [sketching, setSketching] = useState(false);
  const { busy: storing, run } = useAct();
  const url = draft.controlnet_image ?? '';
  const module = draft.controlnet_module ?? '';
  const model = draft.controlnet_model ?? '';
  const [kind, setKind] = useState(
    () => types.find((each) => each.modules.includes(module) && module !== 'none')?.type ?? '',
  );
  const type = types.find((each) => each.type === kind);
  const choose = (next: string) => {
    const chosen = types.find((each) => each.type === next);
    setKind(next);
    change({
      controlnet_module: chosen?.modules.find((each) => each !== 'none') ?? chosen?.modules[0],
      controlnet_model: chosen?.models.find((each) => each !== 'None'),
    });
  };
  const pick = async () => {
    const [picked] = await pickImages({ max: 1, title: '选择控制图' });
    if (picked) change({ controlnet_image: picked.url });
  };
  const store = async (dataUrl: string) => {
    await run(async () => {
      const { image: stored } = await api.croppingImage({ image: dataUrl });
      change({ controlnet_image: stored.url });
      // A drawing is lines already.
      if (kind === '' && types.some((each) => each.type === 'Scribble')) choose('Scribble');
    });
  };
  const clear = () =>
    change({
      controlnet_image: undefined,
      controlnet_module: undefined,
      controlnet_model: undefined,
      controlnet_control_mode: undefined,
    });
  return (
    <>
      <p className="field-hint">照着一张图的线条、深浅或姿势来画，描述决定画成什么。</p>
      <div className={css.toolLine}>
        <Button busy={storing} onClick={() => void pick()}>
          {url === '' ? '选控制图' : '换一张'}
        </Button>
        <Button busy={storing} onClick={() => setSketching(true)}>
          <Icon name="edit" size={18} />
          画草图
        </Button>
        {url !== '' && (
          <Button kind="ghost" onClick={clear}>
            移除
          </Button>
        )}
      </div>
      {url !== '' && (
        <div className={css.toolPair}>
          <figure>
            <AnyImage url={url} side={320} alt="控制图" />
            <figcaption>控制图</figcaption>
          </figure>
          {module === '' ? (
            <p className={css.toolWarn} role="alert">
              <Icon name="warning" size={18} />
              请选择构图控制模型
            </p>
          ) : (
            <Detected url={url} module={module} />
          )}
        </div>
      )}
      <Choices
        label="照着什么画"
        value={kind}
        choices={inOrder(types).map((each) => ({
          value: each.type,
          label: each.label || each.type,
          hint: each.label ? each.type : undefined,
        }))}
        onChange={choose}
      />
      {type && type.modules.length > 1 && (
        <Choices
          label="预处理"
          value={module}
          choices={type.modules.map((value) => ({ value, label: moduleLabel(value) }))}
          onChange={(value) => change({ controlnet_module: value })}
        />
      )}
      {type && type.models.length > 1 && (
        <Choices
          label="控制模型"
          value={model}
          choices={type.models.map((value) => ({ value, label: value }))}
          onChange={(value) => change({ controlnet_model: value })}
        />
      )}
      <Choices
        label="更看重"
        value={draft.controlnet_control_mode ?? 0}
        choices={familyRules.controlModes.map(({ mode, label }) => ({
          value: mode as number,
          label,
        }))}
        onChange={(mode) => change({ controlnet_control_mode: mode === 0 ? undefined : mode })}
      />
      <SketchPad
        open={sketching}
        size={sizeFor(image, draft.size ?? 3)}
        onClose={() => setSketching(false)}
        onDone={(dataUrl) => void store(dataUrl)}
      />
    </>
  );
};

export const ControlnetTab = () => {
  const { metadata } = useTool();
  if (metadata.data)
    return metadata.data.controlnetTypes.length > 0 ? (
      <Control types={metadata.data.controlnetTypes} />
    ) : (
      <EmptyState icon="warning" text="这个服务现在没有可用的构图控制模型。" />
    );
  if (metadata.isError) return <QueryFailed query={metadata} />;
  return <Skeleton lines={6} />;
};
