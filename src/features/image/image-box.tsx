import { useAuth } from '#src/platform/auth-store.ts';
import { useDraft } from '#src/platform/draft.ts';
import {
  blendOf,
  changeImageDraft,
  draftWithSettings,
  requestOf,
  useImageDraft,
} from '#src/widgets/image/image-draft.ts';
import {
  closeImageTool,
  openImageTool,
  provideImageSend,
  useImageBusy,
  type ImageToolTab,
} from '#src/widgets/image/image-tool-store.ts';
import { useDraftPrice } from '#src/widgets/image/draft-price.ts';
import { useModel, useSettings } from '#src/platform/queries.ts';
import { DropVeil } from '#src/ui/drop-veil.tsx';
import { PathIcon } from '#src/ui/icon.tsx';
import { toast } from '#src/platform/toast.ts';
import { WordsField } from '#src/ui/words-field.tsx';
import { limits } from '#contract/limits.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useEffect, useRef } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { useModelChange } from '#src/widgets/composer/model-change.ts';
import { ModelFailure } from '#src/widgets/composer/model-failure.tsx';
import { BoxForm, LetterCount } from '#src/widgets/composer/box-form.tsx';
import { useFreeModel } from '#src/widgets/composer/free-model.ts';
import { ShortBalance } from '#src/widgets/composer/short-balance.tsx';
import { MakeButton } from '#src/widgets/image/make-button.tsx';
import { DraftChips } from './draft-chips.tsx';
import { useBaseIntake } from './image-intake.ts';
import { imagePath } from '#src/widgets/image/image-path.ts';
import { sendWords } from './image-send.ts';
import { SizeChoice } from './size-choice.tsx';
import { SendModel } from '#src/widgets/composer/send-model.tsx';
import { refusalOf, useGrowth } from '#src/widgets/composer/send-rules.ts';
import drawCss from '#src/widgets/image/image-session.module.css';
import boxCss from '#src/widgets/composer/send.module.css';

const toolPath =
  'M4 7h9M19 7h1M4 17h1M11 17h9M16 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z';

/** The tool sends as this box does, with what the box then holds. */
const useToolSend = (uuid: string, send: () => void) => {
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
  const { user, signedIn } = useAuth();
  const [text, setText] = useDraft(uuid);
  const [draft] = useImageDraft(uuid);
  const model = useModel(session.model);
  const meant = draftWithSettings(draft, useSettings());
  const box = useGrowth(text);
  const preparing = useImageBusy(uuid);
  const intake = useBaseIntake(uuid, model);
  const modelChange = useModelChange(uuid);
  const request = requestOf(meant, model);
  const priceOf = useDraftPrice();
  const price = model ? priceOf(meant, text, model) : null;
  const have = user?.chatgpt_balance ?? 0;
  const most = model?.max_prompt ?? limits.defaultMaxPrompt;
  const based = request.base_image !== '';
  /** Words alone say what is to be painted. */
  const plain = !based && blendOf(draft, model).length === 0;

  const choose = (name: string) => {
    modelChange.choose(name);
    // What is usual for one model is not for another.
    changeImageDraft(uuid, { n: undefined, size: undefined, translate: undefined });
  };
  const goFree = useFreeModel('image', { first, text, choose });
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
  useToolSend(uuid, send);
  const openTool = (tab?: ImageToolTab) =>
    openImageTool({ key: uuid, model: session.model, ...(tab ? { tab } : {}) });

  return (
    <BoxForm onSend={send} veil={<DropVeil text="松开即可作为参考图" onFiles={intake.take} />}>
      <div className={`${boxCss.sendRow} ${drawCss.drawRow}`}>
        <SendModel name={session.model} kind="image" first={first} onChoose={choose} />
        <SizeChoice uuid={uuid} model={model} request={request} onAspect={() => openTool('size')} />
        {model?.image?.abilities.includes('image-to-image') && !based && (
          <button type="button" className={boxCss.sendModel} onClick={() => openTool('img2img')}>
            <PathIcon path={imagePath} size={16} />
            参考图
          </button>
        )}
        <LetterCount text={text} most={most} />
        <ModelFailure
          reason={modelChange.reason}
          onClose={modelChange.forget}
          onFree={() => goFree?.()}
        />
      </div>
      <div>
        {price && user && signedIn && price.tokens > have && (
          <ShortBalance onFree={goFree}>
            要 {price.text}，还剩 {Math.max(0, have)}
          </ShortBalance>
        )}
        <DraftChips
          uuid={uuid}
          model={model}
          draft={draft}
          share={intake.share}
          onOpen={openTool}
        />
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
          <MakeButton word="生成" price={price} busy={preparing} />
        </div>
      </div>
    </BoxForm>
  );
};
