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
import { Act } from '#src/ui/act.tsx';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { LoadFailed } from '#src/ui/load-failed.tsx';
import { saveImage, shareImage } from '#src/ui/save-image.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { toast } from '#src/platform/toast.ts';
import { useEver } from '#src/platform/use-ever.ts';
import type { ImageAbility, ImageReply, ImageTask, MadeImage } from '#contract/image.ts';
import type { Message } from '#contract/chat.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { Suspense, useState } from 'react';
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

/** The sheet that asks for more, loaded with the first such button. */
const usePress = () => {
  const acts = useChatActs();
  const [press, setPress] = useState<Press | null>(null);
  const used = useEver(press !== null);
  return {
    ask: setPress,
    sheet: used && (
      <Suspense fallback={null}>
        <PressSheet
          press={press}
          onClose={() => setPress(null)}
          onDraw={(asked) => void acts.follow(draw(acts.thread, asked))}
        />
      </Suspense>
    ),
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

/** What can be done with a whole answer. */
export const ImageActs = ({
  onMenu,
  ...made
}: Made & {
  /** Opens what can be done with one of its images. */
  onMenu: (at: number) => void;
}) => {
  const { message, asked, reply } = made;
  const acts = useChatActs();
  const can = useAbilities();
  const [details, setDetails] = useState(false);
  const press = usePress();
  const may = acts.owner && acts.writable;
  const [only, another] = reply.images;
  const single = only && !another && only.url !== '' ? only : null;
  const own = reply.actions.length === 0;
  const priceOf = usePriceOf();
  /** @param costs what it takes at once, or when its sheet is sent; null: that is not known yet */
  const chip = (label: string, costs: Asked | null, onClick: () => void) => {
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
  // What is done with one of four stands in rows, a column for each of them.
  const numbered = ['放大', '变体'].flatMap((name) => {
    const actions = reply.actions.filter(({ label }) => new RegExp(`^${name} [1-4]$`).test(label));
    return actions.length > 1 ? [{ name, actions }] : [];
  });
  const others = reply.actions.filter(
    (action) => !numbered.some(({ actions }) => actions.includes(action)),
  );
  const act = (label: string, request: Asked) =>
    chip(label, request, () => void acts.follow(draw(acts.thread, request)));
  return (
    <>
      {may && (
        <div className={drawCss.madeChips} role="group" aria-label="接着画">
          {single && own && can('upscale') && (
            <>
              {act(
                '放大 2×',
                followUp('upscale', { asked, image: single, parameters: { resize: 2 } }),
              )}
              {act(
                '放大 4×',
                followUp('upscale', { asked, image: single, parameters: { resize: 4 } }),
              )}
            </>
          )}
          {single &&
            own &&
            can('image-to-image') &&
            act('变体', followUp('vary', { asked, image: single }))}
          {numbered.length > 0 && (
            <div className={drawCss.madeRows}>
              {numbered.map(({ name, actions }) => {
                const requests = actions.map((action) => ({
                  action,
                  request: followUp('action', {
                    asked,
                    image: only ?? noImage,
                    parameters: { action },
                  }),
                }));
                const price = requests[0] && priceOf(requests[0].request);
                return (
                  <div key={name}>
                    <span>
                      {name}
                      {price && <small>{price.text}</small>}
                    </span>
                    {requests.map(({ action, request }) => (
                      <Chip
                        key={action.hash}
                        aria-label={[
                          [action.emoji, action.label].filter(Boolean).join(' '),
                          priceOf(request)?.words,
                        ]
                          .filter(Boolean)
                          .join('，')}
                        onClick={() => void acts.follow(draw(acts.thread, request))}
                      >
                        {action.label.slice(-1)}
                      </Chip>
                    ))}
                  </div>
                );
              })}
            </div>
          )}
          {others.map((action) => {
            const image = only ?? noImage;
            const label = [action.emoji, action.label].filter(Boolean).join(' ');
            const request = followUp('action', { asked, image, parameters: { action } });
            return action.asks
              ? chip(label, request, () => press.ask({ asked, image, action }))
              : act(label, request);
          })}
          {act('重新生成', onceMore(asked))}
          {chip('修改再画', null, () => changeAsked(acts.uuid, asked))}
          {single && chip('更多', null, () => onMenu(0))}
          {press.sheet}
        </div>
      )}
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

const noImage: MadeImage = {
  id: 0,
  uuid: '',
  url: '',
  width: 0,
  height: 0,
  seed: null,
  error: '',
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
      {told.isError && (
        <LoadFailed error={told.error} busy={told.isFetching} onRetry={() => void told.refetch()} />
      )}
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

/** What can be done with one of the images. */
export const ImageMenu = ({
  at,
  onView,
  onClose,
  ...made
}: Made & {
  /** Its number; null: closed. */
  at: number | null;
  onView: (at: number) => void;
  onClose: () => void;
}) => {
  const { asked, reply } = made;
  const acts = useChatActs();
  const can = useAbilities();
  const asBase = useAsBase();
  const [told, setTold] = useState<MadeImage | null>(null);
  const press = usePress();
  const priceOf = usePriceOf();
  const [grounded, setGrounded] = useState<MadeImage | null>(null);
  const grounding = useEver(grounded !== null);
  const [grown, setGrown] = useState<MadeImage | null>(null);
  const growing = useEver(grown !== null);
  const [edited, setEdited] = useState<MadeImage | null>(null);
  // Other services have one way, or say nothing of theirs.
  const chooses = useModel(acts.model)?.image?.family === 'stable-diffusion';
  const may = acts.owner && acts.writable;
  const own = may && reply.actions.length === 0;
  const then = (act: () => void) => () => {
    onClose();
    act();
  };
  const requestOf = (type: ImageTask, image: MadeImage, resize?: 2 | 4) =>
    followUp(type, { asked, image, ...(resize ? { parameters: { resize } } : {}) });
  const failed = (error: unknown) => {
    toast(error instanceof ApiError ? error.message : errorText(error), 'error');
  };
  /** @param at which of the images */
  const list = (at: number, image: MadeImage) => {
    const task = (type: ImageTask, resize?: 2 | 4) => {
      const request = requestOf(type, image, resize);
      return {
        note: priceOf(request)?.words,
        onClick: then(() => void acts.follow(draw(acts.thread, request))),
      };
    };
    return (
      <>
        <img
          className={drawCss.menuImage}
          {...imageSources(image)}
          sizes="160px"
          width={image.width}
          height={image.height}
          alt=""
        />
        <Act icon="search" label="看大图" onClick={then(() => onView(at))} />
        {image.id > 0 && (
          <Act
            icon="edit"
            label={may ? '修改图片' : '查看图片'}
            onClick={then(() => setEdited(image))}
          />
        )}
        {own && can('upscale') && (
          <>
            <Act icon="plus" label="放大 2×" {...task('upscale', 2)} />
            <Act icon="plus" label="放大 4×" {...task('upscale', 4)} />
            {chooses && (
              <Act
                icon="plus"
                label="选放大算法"
                note={priceOf(requestOf('upscale', image))?.words}
                onClick={then(() => setGrown(image))}
              />
            )}
          </>
        )}
        {own && can('image-to-image') && <Act icon="fork" label="变体" {...task('vary')} />}
        {asBase && <Act icon="reply" label="作为参考图" onClick={then(() => asBase(image))} />}
        {own && can('edit') && (
          <Act
            icon="edit"
            label="局部重绘"
            note={priceOf(requestOf('edit', image))?.words}
            onClick={then(() => press.ask({ asked, image, action: null }))}
          />
        )}
        {own && can('remove-background') && <Act icon="edit" label="抠图" {...task('remove-bg')} />}
        {own && can('edit-background') && (
          <Act
            icon="edit"
            label="换背景"
            note={priceOf(requestOf('edit-bg', image))?.words}
            onClick={then(() => setGrounded(image))}
          />
        )}
        {may && can('interrogate') && (
          <Act icon="document" label="反推提示词" onClick={then(() => setTold(image))} />
        )}
        <Act
          icon="download"
          label="保存"
          onClick={then(() => void saveImage(image.url).catch(failed))}
        />
        <Act
          icon="share"
          label="分享"
          onClick={then(() => void shareImage(image.url, asked.prompt).catch(failed))}
        />
        <Act icon="copy" label="复制提示词" onClick={then(() => void copyText(asked.prompt))} />
      </>
    );
  };
  const image = at === null ? undefined : reply.images[at];
  const open = image !== undefined && image.url !== '';
  return (
    <>
      <Sheet popover="list" open={open} onClose={onClose} title={`第 ${(at ?? 0) + 1} 张`}>
        {open && at !== null && list(at, image)}
      </Sheet>
      {press.sheet}
      <Suspense fallback={null}>
        {growing && (
          <UpscaleSheet
            image={grown}
            price={grown ? priceOf(requestOf('upscale', grown))?.words : ''}
            onClose={() => setGrown(null)}
            onDraw={(image, parameters) =>
              void acts.follow(draw(acts.thread, followUp('upscale', { asked, image, parameters })))
            }
          />
        )}
        {grounding && (
          <BackgroundSheet
            image={grounded}
            price={grounded ? priceOf(requestOf('edit-bg', grounded))?.words : ''}
            onClose={() => setGrounded(null)}
            onDraw={(image, parameters) =>
              void acts.follow(draw(acts.thread, followUp('edit-bg', { asked, image, parameters })))
            }
          />
        )}
      </Suspense>
      <Interrogation image={told} onClose={() => setTold(null)} />
      {edited && (
        <ImageViewer
          images={[edited]}
          at={0}
          onTurn={() => undefined}
          onClose={() => setEdited(null)}
        />
      )}
    </>
  );
};
