import { Chip } from '#src/ui/chip.tsx';
import { ApiError, errorText } from '#src/platform/api-error.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { useInterrogateWays } from '#src/widgets/image/interrogate-ways.ts';
import { takeAsBase } from '#src/widgets/image/base-image.ts';
import { parameterRows } from '#src/widgets/image/parameter-rows.ts';
import { imageSources } from '#src/widgets/image/image-sources.ts';
import { ImageViewer } from '#src/widgets/viewer/image-viewer.tsx';
import { copyMade, copyText } from '#src/platform/copy.ts';
import { useModel, useSettings } from '#src/platform/queries.ts';
import { ActMenu, type MenuAct } from '#src/ui/act.tsx';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { saveImage, shareImage } from '#src/ui/save-image.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { toast } from '#src/platform/toast.ts';
import { useEver } from '#src/platform/use-ever.ts';
import type {
  ImageAbility,
  ImageAction,
  ImageParameters,
  ImageReply,
  ImageTask,
  MadeImage,
} from '#contract/image.ts';
import type { Message } from '#contract/chat.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { MoreAct, Marks, SmallAct } from '#src/widgets/conversation/message-acts.tsx';
import type { Press } from './press-sheet.tsx';
import { usePriceOf } from './request-price.ts';
import { draw } from './image-draw.ts';
import { followUp, onceMore, wordsOf, type Asked } from './image-request.ts';
import { changeAsked } from './image-send.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';
import drawCss from '#src/widgets/image/image-session.module.css';

const BackgroundSheet = lazyAsked(() => import('./background-sheet.tsx'));
const PressSheet = lazyAsked(() => import('./press-sheet.tsx'));
const UpscaleSheet = lazyAsked(() => import('./upscale-sheet.tsx'));

/** Draws what was asked for and follows it. */
const useDraw = (): ((asked: Asked) => void) => {
  const { thread, follow } = useChatActs();
  return (asked) => void follow(draw(thread, asked));
};

/** The sheet that asks for more, loaded with the first such button. */
const usePress = () => {
  const onDraw = useDraw();
  const [press, setPress] = useState<Press | null>(null);
  const used = useEver(press !== null);
  return {
    ask: setPress,
    sheet: used && <PressSheet press={press} onClose={() => setPress(null)} onDraw={onDraw} />,
  };
};

interface Made {
  message: Message;
  asked: Asked;
  reply: ImageReply;
}

/** Goes on from an image, where the model can; null: it can not. */
export const useAsBase = (): ((image: MadeImage) => void) | null => {
  const acts = useChatActs();
  const model = useModel(acts.model);
  if (!acts.owner || !acts.writable || !model?.image?.abilities.includes('image-to-image'))
    return null;
  return (image) => {
    if (!takeAsBase(acts.uuid, model, image)) return;
    toast('已作为参考图，写下想怎样画', 'success');
    document.querySelector<HTMLTextAreaElement>('[data-send-box] textarea')?.focus();
  };
};

const useAbilities = (): ((ability: ImageAbility) => boolean) => {
  const { model } = useChatActs();
  const abilities = useModel(model)?.image?.abilities ?? [];
  return (ability) => abilities.includes(ability);
};

const Details = ({ message, asked, reply }: Made) => {
  const acts = useChatActs();
  const settings = useSettings();
  const label = useModel(message.model || acts.model)?.label ?? message.model;
  const seeds = reply.images.flatMap(({ seed }) => (seed === null ? [] : [String(seed)]));
  const rows: [string, string][] = [
    ['模型', label],
    ['画图服务', reply.engine],
    ['尺寸', reply.width > 0 ? `${reply.width}×${reply.height}` : ''],
    ['种子', seeds.join('、')],
    ['送给模型的提示词', reply.prompt === wordsOf(asked) ? '' : reply.prompt],
    ['模型改写的提示词', reply.revised_prompt],
    ...parameterRows({ ...asked.image.parameters, ...reply.parameters }),
    [
      '花费',
      settings.show_token_usage === 1 && message.deduct_tokens > 0
        ? `${message.deduct_tokens} tokens`
        : '',
    ],
  ];
  return (
    <dl className={drawCss.madeDetails}>
      {rows
        .filter(([, value]) => value !== '')
        .map(([name, value], at) => (
          <div key={`${name}${at}`}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
};

const noImage: MadeImage = {
  id: 0,
  uuid: '',
  url: '',
  width: 0,
  height: 0,
  seed: null,
  error: '',
};

/** What a service calls one of its acts. */
const actionName = ({ emoji, label }: ImageAction): string =>
  [emoji, label].filter(Boolean).join(' ');

/** What is done with one of four stands in rows, a column for each of them. */
const numberedOf = (actions: readonly ImageAction[]) => {
  const nameOf = ({ label }: ImageAction) => /^(.+) [1-4]$/.exec(label)?.[1] ?? '';
  return [...new Set(actions.map(nameOf))].flatMap((name) => {
    const own = actions.filter((action) => nameOf(action) === name);
    return name !== '' && own.length > 1 ? [{ name, actions: own }] : [];
  });
};

const NumberedActions = ({
  rows,
  requestOf,
}: {
  rows: ReturnType<typeof numberedOf>;
  requestOf: (action: ImageAction) => Asked;
}) => {
  const priceOf = usePriceOf();
  const onDraw = useDraw();
  return (
    <div className={drawCss.madeRows}>
      {rows.map(({ name, actions }) => {
        const price = actions[0] && priceOf(requestOf(actions[0]));
        return (
          <div key={name}>
            <span>
              {name}
              {price && <small>{price.text}</small>}
            </span>
            {actions.map((action) => (
              <Chip
                key={action.hash}
                aria-label={[actionName(action), priceOf(requestOf(action))?.words]
                  .filter(Boolean)
                  .join('，')}
                onClick={() => onDraw(requestOf(action))}
              >
                {action.label.slice(-1)}
              </Chip>
            ))}
          </div>
        );
      })}
    </div>
  );
};

/** Ways to go on from an answer, each with what it takes. */
const GoOn = ({ asked, reply }: Omit<Made, 'message'>) => {
  const { uuid } = useChatActs();
  const can = useAbilities();
  const press = usePress();
  const priceOf = usePriceOf();
  const onDraw = useDraw();
  const [only, another] = reply.images;
  const single = only && !another && only.url !== '' ? only : null;
  const own = reply.actions.length === 0 ? single : null;
  const image = only ?? noImage;
  const requestOf = (action: ImageAction) =>
    followUp('action', { asked, image, parameters: { action } });
  /** @param costs what it takes at once, or when its sheet is sent; null: that is not known yet */
  const chip = (label: string, costs: Asked | null, onClick = () => costs && onDraw(costs)) => {
    const price = costs && priceOf(costs);
    return (
      <Chip
        key={label}
        aria-label={price ? `${label}，${price.words}` : undefined}
        onClick={onClick}
      >
        {label}
        {price && <small>{price.text}</small>}
      </Chip>
    );
  };
  const numbered = numberedOf(reply.actions);
  const others = reply.actions.filter(
    (action) => !numbered.some(({ actions }) => actions.includes(action)),
  );
  return (
    <div className={drawCss.madeChips} role="group" aria-label="接着画">
      {own &&
        can('upscale') &&
        ([2, 4] as const).map((resize) =>
          chip(
            `高清放大 ${resize}×`,
            followUp('upscale', { asked, image: own, parameters: { resize } }),
          ),
        )}
      {own && can('image-to-image') && chip('再来几张', followUp('vary', { asked, image: own }))}
      {numbered.length > 0 && <NumberedActions rows={numbered} requestOf={requestOf} />}
      {others.map((action) =>
        chip(
          actionName(action),
          requestOf(action),
          action.asks ? () => press.ask({ asked, image, action }) : undefined,
        ),
      )}
      {chip('重新生成', onceMore(asked))}
      {chip('修改再画', null, () => changeAsked(uuid, asked))}
      {press.sheet}
    </div>
  );
};

/** What can be done with a whole answer. */
export const ImageActs = (made: Made) => {
  const { message, asked, reply } = made;
  const { owner, writable } = useChatActs();
  const [details, setDetails] = useState(false);
  return (
    <>
      {owner && writable && <GoOn asked={asked} reply={reply} />}
      <div className={rowCss.acts}>
        <SmallAct icon="copy" label="复制提示词" onClick={() => void copyText(asked.prompt)} />
        <Marks message={message} />
        <MoreAct message={message} of="question" />
        <button
          type="button"
          className={drawCss.madeFold}
          aria-expanded={details}
          onClick={() => setDetails(!details)}
        >
          参数
          <Icon name={details ? 'up' : 'down'} size={14} />
        </button>
      </div>
      {details && <Details {...made} />}
    </>
  );
};

const Words = ({ name, text, onUse }: { name: string; text: string; onUse: () => void }) =>
  text === '' ? null : (
    <section className={drawCss.toldWords}>
      <h3>{name}</h3>
      <p className="selectable">{text}</p>
      <div className="row">
        <Button size="small" onClick={() => void copyMade(text)}>
          复制
        </Button>
        <Button size="small" kind="primary" onClick={onUse}>
          放进输入框
        </Button>
      </div>
    </section>
  );

/** Words for an image, to copy or to go on with. */
const Interrogation = ({ image, onClose }: { image: MadeImage | null; onClose: () => void }) => {
  const { uuid } = useChatActs();
  const { ways, priceOf } = useInterrogateWays();
  const own = useModel(useChatActs().model);
  const [chosen, setWay] = useState('');
  // By the model that painted it, where that one looks, too.
  const usual = ways.find(({ value }) => value === own?.name) ?? ways[0];
  const way = chosen === '' ? (usual?.value ?? '') : chosen;
  const price = priceOf(way);
  const [asked, setAsked] = useState<readonly string[]>([]);
  const key = `${image?.id ?? 0} ${way}`;
  const told = useCall(
    'interrogateImage',
    image && image.id > 0
      ? { image_id: image.id, model: way }
      : { image_url: image?.url, model: way },
    {
      ...steady,
      // What costs something waits for a press.
      enabled: image !== null && way !== '' && (price === 0 || asked.includes(key)),
      retry: false,
    },
  );
  const use = (text: string) => {
    writeDraft(uuid, [readDraft(uuid).trim(), text].filter(Boolean).join('\n'));
    toast('已放进输入框', 'success');
    onClose();
  };
  return (
    <Sheet open={image !== null} onClose={onClose} title="反推提示词">
      {ways.length > 1 && (
        <div className={drawCss.interrogationWays}>
          <ChipChoice label="用什么看" value={way} choices={ways} onChange={setWay} />
        </div>
      )}
      {told.fetchStatus === 'idle' && told.isPending && (
        <div className={drawCss.press}>
          <p className="field-hint">看图不收费，译成中文由聊天模型做</p>
          <Button kind="primary" onClick={() => setAsked([...asked, key])}>
            反推提示词 · 约 {price} tokens
          </Button>
        </div>
      )}
      {told.isFetching && told.isPending && <Skeleton lines={5} />}
      {told.isError && <QueryFailed query={told} />}
      {told.data && (
        <>
          <Words name="中文" text={told.data.result_cn} onUse={() => use(told.data.result_cn)} />
          <Words name="英文" text={told.data.result} onUse={() => use(told.data.result)} />
          <p className="field-hint">
            {told.data.engine} 看的{told.data.translated ? '，中文由聊天模型翻译' : ''}
          </p>
        </>
      )}
    </Sheet>
  );
};

const failed = (error: unknown) =>
  toast(error instanceof ApiError ? error.message : errorText(error), 'error');

/** What more is asked before an image is made, or what is shown instead. */
type Step = 'interrogate' | 'background' | 'upscale' | 'viewer';

/** Each act on one image; those that draw at once say what it takes. */
const useImageMenuActs = (
  { asked, reply }: Omit<Made, 'message'>,
  next: {
    step: (step: Step, image: MadeImage) => void;
    view: () => void;
    press: (press: Press) => void;
  },
) => {
  const acts = useChatActs();
  const can = useAbilities();
  const asBase = useAsBase();
  const priceOf = usePriceOf();
  const onDraw = useDraw();
  // Other services have one way, or say nothing of theirs.
  const chooses = useModel(acts.model)?.image?.family === 'stable-diffusion';
  const may = acts.owner && acts.writable;
  const own = (ability: ImageAbility) => may && reply.actions.length === 0 && can(ability);
  return (image: MadeImage): readonly (MenuAct | false)[] => {
    const draws = (type: ImageTask, resize?: 2 | 4) => {
      const request = followUp(type, { asked, image, ...(resize && { parameters: { resize } }) });
      return { note: priceOf(request)?.words, act: () => onDraw(request) };
    };
    const asks = (type: ImageTask, step: Step) => ({
      note: draws(type).note,
      act: () => next.step(step, image),
    });
    return [
      { icon: 'search', label: '看大图', act: next.view },
      image.id > 0 && {
        icon: 'edit',
        label: may ? '修改图片' : '查看图片',
        act: () => next.step('viewer', image),
      },
      own('upscale') && { icon: 'plus', label: '高清放大 2×', ...draws('upscale', 2) },
      own('upscale') && { icon: 'plus', label: '高清放大 4×', ...draws('upscale', 4) },
      own('upscale') &&
        chooses && { icon: 'plus', label: '选放大算法', ...asks('upscale', 'upscale') },
      own('image-to-image') && { icon: 'fork', label: '再来几张', ...draws('vary') },
      asBase !== null && { icon: 'reply', label: '作为参考图', act: () => asBase(image) },
      own('edit') && {
        icon: 'edit',
        label: '局部重绘',
        note: draws('edit').note,
        act: () => next.press({ asked, image, action: null }),
      },
      own('remove-background') && { icon: 'edit', label: '抠图', ...draws('remove-bg') },
      own('edit-background') && {
        icon: 'edit',
        label: '换背景',
        ...asks('edit-bg', 'background'),
      },
      may &&
        can('interrogate') && {
          icon: 'document',
          label: '反推提示词',
          act: () => next.step('interrogate', image),
        },
      { icon: 'download', label: '保存', act: () => void saveImage(image.url).catch(failed) },
      {
        icon: 'share',
        label: '分享',
        act: () => void shareImage(image.url, asked.prompt).catch(failed),
      },
      { icon: 'copy', label: '复制提示词', act: () => void copyText(asked.prompt) },
    ];
  };
};

/** What can be done with one of the images. */
export const ImageMenu = ({
  at,
  asked,
  reply,
  onView,
  onClose,
}: Omit<Made, 'message'> & {
  /** Its number; null: closed. */
  at: number | null;
  onView: (at: number) => void;
  onClose: () => void;
}) => {
  const press = usePress();
  const priceOf = usePriceOf();
  const onDraw = useDraw();
  const [next, setNext] = useState<{ step: Step; image: MadeImage } | null>(null);
  const close = () => setNext(null);
  const actsOf = useImageMenuActs(
    { asked, reply },
    {
      step: (step, image) => setNext({ step, image }),
      view: () => at !== null && onView(at),
      press: press.ask,
    },
  );
  const chosenFor = (step: Step) => (next?.step === step ? next.image : null);
  const image = at === null ? undefined : reply.images[at];
  const open = image !== undefined && image.url !== '';
  /** Of a sheet that asks how an image is made into another. */
  const sheetOf = (step: Step, type: ImageTask) => {
    const from = chosenFor(step);
    return {
      image: from,
      price: from ? priceOf(followUp(type, { asked, image: from }))?.words : '',
      onClose: close,
      onDraw: (image: MadeImage, parameters: ImageParameters) =>
        onDraw(followUp(type, { asked, image, parameters })),
    };
  };
  const upscaling = useEver(next?.step === 'upscale');
  const grounding = useEver(next?.step === 'background');
  const edited = chosenFor('viewer');
  return (
    <>
      <Sheet popover="list" open={open} onClose={onClose} title={`第 ${(at ?? 0) + 1} 张`}>
        {open && (
          <>
            <img
              className={drawCss.menuImage}
              {...imageSources(image)}
              sizes="160px"
              width={image.width}
              height={image.height}
              alt=""
            />
            <ActMenu acts={actsOf(image)} onClose={onClose} />
          </>
        )}
      </Sheet>
      {press.sheet}
      {upscaling && <UpscaleSheet {...sheetOf('upscale', 'upscale')} />}
      {grounding && <BackgroundSheet {...sheetOf('background', 'edit-bg')} />}
      <Interrogation image={chosenFor('interrogate')} onClose={close} />
      {edited && <ImageViewer images={[edited]} at={0} onTurn={() => undefined} onClose={close} />}
    </>
  );
};
