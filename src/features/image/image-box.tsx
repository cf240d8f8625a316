import { useAuth } from '#src/platform/auth-store.ts';
import { useDraft } from '#src/platform/draft.ts';
import {
  blendOf,
  changeImageDraft,
  changeImageParameters,
  draftSaid,
  draftWithSettings,
  requestOf,
  useImageDraft,
  type ImageDraft,
} from '#src/widgets/image/image-draft.ts';
import {
  closeImageTool,
  openImageTool,
  provideImageSend,
  useImageBusy,
  type ImageToolTab,
} from '#src/widgets/image/image-tool-store.ts';
import { type ImagePrice, imagePrice } from '#src/widgets/image/image-price.ts';
import { isForeign } from '#src/widgets/image/foreign-image.tsx';
import { aspectName } from '#src/widgets/image/aspect-name.ts';
import { useTranslationCost } from '#src/widgets/image/translation-price.ts';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import { useImageModels, useModel, useSettings } from '#src/platform/queries.ts';
import { useModuleLabel } from '#src/widgets/image/image-metadata.ts';
import { DropVeil } from '#src/ui/drop-veil.tsx';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import { toast } from '#src/platform/toast.ts';
import { WordsField } from '#src/ui/words-field.tsx';
import { sizeFor } from '#contract/image-prompt.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';
import type { SessionDetail } from '#contract/session.ts';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { useModelChange } from '#src/widgets/composer/model-change.ts';
import { ModelFailure } from '#src/widgets/composer/model-failure.tsx';
import { ImageChoices } from '#src/widgets/image/image-choices.tsx';
import { useBaseIntake } from './image-intake.ts';
import { imagePath } from '#src/widgets/image/image-path.ts';
import { sendWords } from './image-send.ts';
import { StickyChips } from './sticky-chips.tsx';
import { SendModel } from '#src/widgets/composer/send-model.tsx';
import { refusalOf, useGrowth } from '#src/widgets/composer/send-rules.ts';
import kitCss from '#src/widgets/composer/send-kit.module.css';
import drawCss from '#src/widgets/image/image-session.module.css';
import boxCss from '#src/widgets/composer/send.module.css';

const toolPath =
  'M4 7h9M19 7h1M4 17h1M11 17h9M16 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z';

const InsufficientBalance = ({
  price,
  onFree,
}: {
  price: ImagePrice;
  onFree: (() => void) | null;
}) => {
  const { user, signedIn } = useAuth();
  const have = user?.chatgpt_balance ?? 0;
  if (!user || !signedIn || price.tokens <= have) return null;
  return (
    <div className={kitCss.sendNote} role="status">
      <p>
        余额不足：要 {price.text}，还剩 {Math.max(0, have)}。
      </p>
      <Link className={kitCss.sendNoteAct} to="/account" search={{ tab: 'recharge' }}>
        去充值
      </Link>
      {onFree && (
        <button type="button" className={kitCss.sendNoteAct} onClick={onFree}>
          使用免费模型
        </button>
      )}
    </div>
  );
};

/** What the box would send, and what that takes with the translation of its words. */
const boxPrice = (
  draft: ImageDraft,
  text: string,
  model: Model,
  user: { vip: number } | null,
  costOf: ReturnType<typeof useTranslationCost>,
): ImagePrice => {
  const image = requestOf(draftSaid(draft, text, model), model);
  return imagePrice(image, model, user, costOf({ type: 'txt2img', prompt: text, image }, model));
};

/** What is sent from a session of images, and what it will cost. */
export const ImageBox = ({
  session,
  first,
}: {
  session: SessionDetail;
  /** The session has no message yet. */
  first: boolean;
}) => {
  const { uuid } = session;
  const acts = useChatActs();
  const { user } = useAuth();
  const [text, setText] = useDraft(uuid);
  const [draft, change] = useImageDraft(uuid);
  const model = useModel(session.model);
  const models = useImageModels();
  const settings = useSettings();
  const box = useGrowth(text);
  const preparing = useImageBusy(uuid);
  const intake = useBaseIntake(uuid, model);
  const modelChange = useModelChange(uuid);
  const [choosing, setChoosing] = useState<'model' | 'size' | null>(null);
  const request = requestOf(draftWithSettings(draft, settings), model);
  const moduleLabel = useModuleLabel(session.model, request.controlnet_module);
  const costOf = useTranslationCost();
  const price = model
    ? boxPrice(draftWithSettings(draft, settings), text, model, user, costOf)
    : null;
  const midjourney = model?.image?.family === 'midjourney';
  const abilities = model?.image?.abilities ?? [];
  const most = model?.max_prompt ?? limits.defaultMaxPrompt;
  const { base_image } = request;
  const blend = blendOf(draft, model);
  /** Words alone say what is to be painted. */
  const plain = base_image === '' && blend.length === 0;
  /** Choices of the tool that stay for the images after the next. */
  const { style, seed, checkpoint, lora } = draft.parameters ?? {};
  const sticky = [style, seed, checkpoint, lora].some((each) => each !== undefined);
  const size = model?.image ? sizeFor(model.image, request.size) : null;
  const free = models.data?.find((each) => each.factor === 0);

  const choose = (name: string) => {
    modelChange.choose(name);
    // What is usual for one model is not for another.
    changeImageDraft(uuid, { n: undefined, size: undefined, translate: undefined });
  };
  const goFree = () => {
    if (!free) return;
    if (first) choose(free.name);
    else acts.startAnew(text, 'free');
  };
  const send = () => {
    if (preparing) return;
    const prompt = text.trim();
    const refusal = prompt === '' ? '' : refusalOf(prompt, most, first && plain);
    if (refusal !== '') {
      toast(refusal, 'error');
      return;
    }
    void sendWords(uuid, prompt, model, acts);
  };
  // The tool sends as this box does, with what it then holds.
  const latest = useRef(send);
  useEffect(() => {
    latest.current = send;
  });
  useEffect(() => {
    const end = provideImageSend(uuid, () => latest.current());
    return () => {
      end();
      // Its words belong to this box: with another session in sight it would write unseen.
      closeImageTool(uuid);
    };
  }, [uuid]);
  const openTool = (tab?: ImageToolTab) =>
    openImageTool({ key: uuid, model: session.model, ...(tab ? { tab } : {}) });

  return (
    <form
      className={boxCss.send}
      data-send-box
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <DropVeil text="松开即可作为参考图" onFiles={intake.take} />
      <div className={boxCss.sendInner}>
        <div className={`${boxCss.sendRow} ${drawCss.drawRow}`}>
          <SendModel
            name={session.model}
            model={model}
            first={first}
            onChoose={() => setChoosing('model')}
          />
          <button
            type="button"
            className={boxCss.sendModel}
            disabled={midjourney}
            title={midjourney ? '这个模型每次固定画 4 张' : '一次画几张'}
            aria-label={`张数：${request.n}`}
            onClick={() => setChoosing('size')}
          >
            {request.n} 张
          </button>
          <button
            type="button"
            className={boxCss.sendModel}
            aria-label={
              midjourney
                ? `比例：${request.parameters.aspect ?? '1:1'}`
                : `尺寸：${size ? `${size.width}×${size.height}，${aspectName(size.width, size.height)}` : '默认'}`
            }
            onClick={() => (midjourney ? openTool('size') : setChoosing('size'))}
          >
            {midjourney
              ? (request.parameters.aspect ?? '1:1')
              : size
                ? `${size.width}×${size.height}`
                : '尺寸'}
          </button>
          {abilities.includes('image-to-image') && base_image === '' && (
            <button type="button" className={boxCss.sendModel} onClick={() => openTool('img2img')}>
              <PathIcon path={imagePath} size={16} />
              参考图
            </button>
          )}
          {text.length > most * 0.9 && (
            <span className={boxCss.sendCount} data-over={text.trim().length > most || undefined}>
              {text.trim().length} / {most}
            </span>
          )}
        </div>
        <div>
          {price && <InsufficientBalance price={price} onFree={free ? goFree : null} />}
          {(!plain || request.controlnet_image !== '' || sticky || intake.share !== null) && (
            <div className={kitCss.sendChips}>
              {intake.share !== null && (
                <span className={kitCss.sendChip} role="status">
                  正在加上参考图 {Math.round(intake.share * 100)}%
                </span>
              )}
              {model && sticky && (
                <StickyChips
                  uuid={uuid}
                  model={model}
                  parameters={draft.parameters}
                  onOpen={openTool}
                />
              )}
              {blend.length > 0 && (
                <span className={`${kitCss.sendChip} ${drawCss.drawBase}`}>
                  <button
                    type="button"
                    aria-label={`修改要融合的 ${blend.length} 张图片`}
                    className={drawCss.drawBaseView}
                    onClick={() => openTool('img2img')}
                  >
                    {!isForeign(blend[0]?.url ?? '') && (
                      <img src={smallImage(blend[0]?.url ?? '', 128)} alt="" />
                    )}
                    融图 {blend.length} 张
                  </button>
                  <button
                    type="button"
                    aria-label="不融图"
                    onClick={() => changeImageParameters(uuid, { blend: undefined })}
                  >
                    <Icon name="close" size={14} />
                  </button>
                </span>
              )}
              {base_image !== '' && (
                <span className={`${kitCss.sendChip} ${drawCss.drawBase}`}>
                  <button
                    type="button"
                    aria-label="修改参考图"
                    className={drawCss.drawBaseView}
                    onClick={() => openTool('img2img')}
                  >
                    {!isForeign(base_image) && <img src={smallImage(base_image, 128)} alt="" />}
                    参考图
                  </button>
                  <button
                    type="button"
                    aria-label="不用参考图"
                    onClick={() =>
                      change({ base_image: undefined, strength: undefined, resize_mode: undefined })
                    }
                  >
                    <Icon name="close" size={14} />
                  </button>
                </span>
              )}
              {request.controlnet_image !== '' && (
                <span className={kitCss.sendChip}>
                  <span>构图 {moduleLabel}</span>
                  <button
                    type="button"
                    aria-label="不用构图控制"
                    onClick={() => change({ controlnet_image: undefined })}
                  >
                    <Icon name="close" size={14} />
                  </button>
                </span>
              )}
            </div>
          )}
          <div className={boxCss.sendLine} data-writer="chat">
            <button
              type="button"
              className="round"
              aria-label="画图工具"
              title="提示词、参数、风格、构图、尺寸"
              aria-haspopup="dialog"
              onClick={() => openTool()}
            >
              <PathIcon path={toolPath} size={22} />
            </button>
            <WordsField
              ref={box}
              text={text}
              placeholder={first ? '描述一张画…' : '再画点什么…'}
              label="画图提示词"
              onText={setText}
              onSend={send}
              onPaste={(event) => {
                const files = [...event.clipboardData.files];
                // A table or a page brings an image of itself along: its text is meant.
                if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return;
                event.preventDefault();
                intake.take(files);
              }}
            />
            <button
              type="submit"
              className={`round ${boxCss.sendButton} ${drawCss.drawButton}`}
              data-sender
              aria-label={price ? `生成，${price.words}` : '生成'}
              title={price?.words}
              aria-busy={preparing || undefined}
              disabled={preparing}
            >
              <Icon name="send" size={20} />
              <span>{price?.text ?? '生成'}</span>
            </button>
          </div>
        </div>
      </div>
      <ModelSheet
        open={choosing === 'model'}
        value={session.model}
        images
        onClose={() => setChoosing(null)}
        onChoose={choose}
      />
      <ImageChoices
        open={choosing === 'size'}
        model={model}
        request={request}
        onChange={change}
        onClose={() => setChoosing(null)}
      />
      <ModelFailure reason={modelChange.reason} onClose={modelChange.forget} onFree={goFree} />
    </form>
  );
};
