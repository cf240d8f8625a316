import {
  draftSaid,
  draftWithSettings,
  imageRefusal,
  requestOf,
} from '#src/widgets/image/image-draft.ts';
import {
  closeImageTool,
  useImageBusy,
  useImageSend,
  type ImageToolRequest,
  type ImageToolTab,
} from '#src/widgets/image/image-tool-store.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { imagePrice } from '#src/widgets/image/image-price.ts';
import { useTranslationCost } from '#src/widgets/image/translation-price.ts';
import { useModel, useSettings } from '#src/platform/queries.ts';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { toast } from '#src/platform/toast.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForRecents } from '#src/platform/wide-enough.ts';
import type { ImageModel } from '#contract/image.ts';
import type { Model } from '#contract/model.ts';
import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { CheckpointTab } from './checkpoint-tab.tsx';
import { ControlnetTab } from './controlnet-tab.tsx';
import css from './image-tool.module.css';
import { Img2ImgTab } from './img2img-tab.tsx';
import { InscriptionTab } from './inscription-tab.tsx';
import { ParameterTab } from './parameter-tab.tsx';
import { PromptTab } from './prompt-tab.tsx';
import { SizeTab } from './size-tab.tsx';
import { StyleTab, stylesFor } from './style-tab.tsx';
import { TagsTab } from './tags-tab.tsx';
import { ToolProvider, useTool, useToolState, type ToolState } from './tool-context.ts';

interface Tab {
  tab: ImageToolTab;
  label: string | ((state: ToolState) => string);
  /** Whether the model has anything for it. */
  offered: (state: ToolState) => boolean;
  content: () => ReactNode;
}

const always = (): boolean => true;

const hasParameters = ({ image }: ToolState): boolean =>
  ['midjourney', 'stable-diffusion', 'cloud', 'dalle'].includes(image.family) ||
  image.abilities.includes('seed');

const hasCheckpoints = ({ image, metadata }: ToolState): boolean =>
  image.checkpoints.length > 0 || (metadata.data?.checkpoints.length ?? 0) > 0;
const hasLoras = ({ image, metadata }: ToolState): boolean =>
  image.abilities.includes('lora') && (metadata.data?.loras.length ?? 0) > 0;

const tabs: readonly Tab[] = [
  { tab: 'inscription', label: '提示助手', offered: always, content: () => <InscriptionTab /> },
  { tab: 'prompt', label: '提示词', offered: always, content: () => <PromptTab /> },
  { tab: 'parameter', label: '参数', offered: hasParameters, content: () => <ParameterTab /> },
  { tab: 'tags', label: '标签', offered: always, content: () => <TagsTab /> },
  {
    tab: 'checkpoint',
    label: (state) => (hasCheckpoints(state) ? '底模' : 'LoRA'),
    offered: (state) =>
      hasCheckpoints(state) ||
      hasLoras(state) ||
      (state.image.family === 'stable-diffusion' && state.metadata.isError),
    content: () => <CheckpointTab />,
  },
  {
    tab: 'style',
    label: '风格',
    offered: (state) => stylesFor(state).styles.length > 0,
    content: () => <StyleTab />,
  },
  {
    tab: 'controlnet',
    label: '构图控制',
    offered: ({ image }) => image.abilities.includes('controlnet'),
    content: () => <ControlnetTab />,
  },
  { tab: 'size', label: '尺寸', offered: always, content: () => <SizeTab /> },
  {
    tab: 'img2img',
    label: '参考图',
    offered: ({ image }) => image.abilities.includes('image-to-image'),
    content: () => <Img2ImgTab />,
  },
];

/** What the images cost as they are asked for now. */
const usePrice = (): string => {
  const { model, draft, text } = useTool();
  const { user } = useAuth();
  const costOf = useTranslationCost();
  const settings = useSettings();
  const image = requestOf(draftSaid(draftWithSettings(draft, settings), text, model), model);
  const translation = costOf({ type: 'txt2img', prompt: text, image }, model);
  return imagePrice(image, model, user, translation).words;
};

const Foot = () => {
  const { key, text, draft, model } = useTool();
  const send = useImageSend(key);
  const docked = useMedia(wideEnoughForRecents);
  const price = usePrice();
  const busy = useImageBusy(key);
  return (
    <div className={css.toolFoot}>
      {send ? (
        <Button
          kind="primary"
          disabled={busy}
          onClick={() => {
            const refusal = imageRefusal(text, draft, model);
            if (refusal !== '') {
              toast(refusal, 'error');
              return;
            }
            // Beside the conversation it may stay for the next image.
            if (!docked) closeImageTool();
            send();
          }}
        >
          生成 · {price}
        </Button>
      ) : (
        <Button kind="primary" onClick={() => closeImageTool()}>
          完成
        </Button>
      )}
    </div>
  );
};

const TabStrip = ({
  id,
  shown,
  current,
  onChoose,
}: {
  id: string;
  shown: readonly { tab: ImageToolTab; label: string }[];
  current: ImageToolTab;
  onChoose: (tab: ImageToolTab) => void;
}) => {
  const strip = useRef<HTMLDivElement>(null);
  // It changes when what the model has becomes known, too.
  const place = shown.findIndex(({ tab }) => tab === current);
  useEffect(() => {
    const chosen = strip.current?.children[place];
    if (!strip.current || !(chosen instanceof HTMLElement)) return;
    // By hand: scrollIntoView would move the page behind, too.
    strip.current.scrollLeft =
      chosen.offsetLeft - (strip.current.clientWidth - chosen.offsetWidth) / 2;
  }, [place]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = shown[(place + step + shown.length) % shown.length];
    if (!next) return;
    onChoose(next.tab);
    strip.current?.querySelector<HTMLElement>(`[data-tab="${next.tab}"]`)?.focus();
  };
  return (
    <div className={`strip ${css.toolTabs}`} role="tablist" aria-label="画图工具" ref={strip}>
      {shown.map(({ tab, label }) => (
        <button
          key={tab}
          id={`${id}-${tab}`}
          data-tab={tab}
          type="button"
          role="tab"
          aria-selected={tab === current}
          aria-controls={`${id}-panel`}
          tabIndex={tab === current ? 0 : -1}
          onClick={() => onChoose(tab)}
          onKeyDown={onKeyDown}
        >
          {label}
        </button>
      ))}
    </div>
  );
};

const Tool = ({
  request,
  model,
  image,
}: {
  request: ImageToolRequest;
  model: Model;
  image: ImageModel;
}) => {
  const id = useId();
  const [wanted, setWanted] = useState<ImageToolTab>(request.tab ?? 'prompt');
  const [cropping, setCropping] = useState<ToolState['cropping']>(null);
  const state = { ...useToolState(request.key, model, image), cropping, setCropping };
  // Asked for once more while it is open: what was asked for comes into sight.
  const [asked, setAsked] = useState(request);
  if (request !== asked) {
    setAsked(request);
    if (request.tab) setWanted(request.tab);
  }
  const { crop } = request;
  useEffect(() => {
    if (!crop) return undefined;
    // Once the tool itself is there: opened together the dialog would lie below it.
    const frame = requestAnimationFrame(() => setCropping(crop));
    return () => cancelAnimationFrame(frame);
  }, [crop]);
  // What was asked for stands there at once; whether the model has it is known in a moment.
  const shown = tabs.filter(
    ({ tab, offered }) => offered(state) || (tab === wanted && state.metadata.isPending),
  );
  const current = shown.find(({ tab }) => tab === wanted) ?? shown[0];
  const named = shown.map(({ tab, label }) => ({
    tab,
    label: typeof label === 'string' ? label : label(state),
  }));
  const panel = useRef<HTMLDivElement>(null);
  if (!current) return null;
  return (
    <ToolProvider value={state}>
      <div className={css.tool}>
        <TabStrip
          id={id}
          shown={named}
          current={current.tab}
          onChoose={(tab) => {
            setWanted(tab);
            panel.current?.scrollTo(0, 0);
          }}
        />
        <div
          className={css.toolPanel}
          role="tabpanel"
          id={`${id}-panel`}
          aria-labelledby={`${id}-${current.tab}`}
          ref={panel}
        >
          <div className={css.toolContent} key={current.tab}>
            {current.content()}
          </div>
        </div>
        <Foot />
      </div>
    </ToolProvider>
  );
};

const Inside = ({ request }: { request: ImageToolRequest }) => {
  const model = useModel(request.model);
  if (!model?.image) return <EmptyState icon="warning" text="这个模型现在不能画图，请换一个。" />;
  // Opened for another box: it begins anew.
  return (
    <Tool
      key={`${request.key} ${model.name}`}
      request={request}
      model={model}
      image={model.image}
    />
  );
};

/** Beside the conversation on a screen with room for both: nothing behind it is shut. */
const Docked = ({ request }: { request: ImageToolRequest }) => {
  useEffect(() => {
    const { documentElement: root } = document;
    root.dataset['tool'] = '1';
    return () => {
      delete root.dataset['tool'];
    };
  }, []);
  return (
    <aside
      className={css.toolDock}
      aria-label="画图工具"
      onKeyDown={(event) => {
        if (event.key === 'Escape') closeImageTool();
      }}
    >
      <header className={css.toolDockHead}>
        <h2>画图工具</h2>
        <Button kind="ghost" size="icon" aria-label="关闭画图工具" onClick={() => closeImageTool()}>
          <Icon name="close" />
        </Button>
      </header>
      <Inside request={request} />
    </aside>
  );
};

/** The image tool: a sheet on phones and small windows, a panel beside the conversation on wide ones. */
const ImageTool = ({ request }: { request: ImageToolRequest | null }) => {
  const wide = useMedia(wideEnoughForRecents);
  if (wide) return request && <Docked request={request} />;
  return (
    <Sheet open={request !== null} onClose={() => closeImageTool()} title="画图工具">
      {request && <Inside request={request} />}
    </Sheet>
  );
};

export default ImageTool;
