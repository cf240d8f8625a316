import { useAuth } from '#src/platform/auth-store.ts';
import { useDraft } from '#src/platform/draft.ts';
import { compactNumber } from '#common/compact-number.ts';
import { useModel } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import { WordsField } from '#src/ui/words-field.tsx';
import { AlongChip } from '#src/widgets/image/along-chip.tsx';
import { MakeButton } from '#src/widgets/image/make-button.tsx';
import type { SessionDetail } from '#contract/session.ts';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { sendVideo } from './video-make.ts';
import { closeVideoSheet, openVideoSheet, useVideoSheet } from './video-dialog-store.ts';
import { changeVideoDraft, useVideoDraft, videoPrice, wayWords } from './video-request.ts';
import { VideoSheet } from './video-sheet.tsx';
import { BoxForm } from '#src/widgets/composer/box-form.tsx';
import { useFreeModel } from '#src/widgets/composer/free-model.ts';
import { ShortBalance } from '#src/widgets/composer/short-balance.tsx';
import { useModelChange } from '#src/widgets/composer/model-change.ts';
import { ModelFailure } from '#src/widgets/composer/model-failure.tsx';
import { SendModel } from '#src/widgets/composer/send-model.tsx';
import { useGrowth } from '#src/widgets/composer/send-rules.ts';
import kitCss from '#src/widgets/composer/send-kit.module.css';
import drawCss from '#src/widgets/image/image-session.module.css';
import boxCss from '#src/widgets/composer/send.module.css';

/** What is sent from a session of films, and what it will cost. */
export const VideoBox = ({ session, first }: { session: SessionDetail; first: boolean }) => {
  const { uuid } = session;
  const acts = useChatActs();
  const { user, signedIn } = useAuth();
  const [text, setText] = useDraft(uuid);
  const draft = useVideoDraft(uuid);
  const model = useModel(session.model);
  const box = useGrowth(text);
  const change = useModelChange(uuid);
  const sheet = useVideoSheet(uuid);
  const price = model ? videoPrice(model) : null;
  const goFree = useFreeModel('video', { first, text, choose: change.choose });
  const have = user ? user.chatgpt_balance + (model?.vip_excluded ? 0 : user.vip_balance) : 0;
  const openSheet = () => openVideoSheet(uuid);
  // Without an image the dialog asks for one.
  const send = () => {
    if (draft.base_image === '' && !/^https?:/.test(text.trim())) openSheet();
    else void sendVideo(uuid, text, model, acts);
  };
  return (
    <BoxForm onSend={send}>
      <div className={`${boxCss.sendRow} ${drawCss.drawRow}`}>
        <SendModel name={session.model} kind="video" first={first} onChoose={change.choose} />
        <button type="button" className={boxCss.sendModel} onClick={openSheet}>
          {wayWords(draft)}
        </button>
        <VideoSheet session={session} model={model} open={sheet} onClose={closeVideoSheet} />
        <ModelFailure reason={change.reason} onClose={change.forget} onFree={() => goFree?.()} />
      </div>
      <div>
        {price && user && signedIn && price.tokens > have && (
          <ShortBalance onFree={goFree}>
            要 {price.text} tokens，还剩 {compactNumber(Math.max(0, have))}
          </ShortBalance>
        )}
        {draft.base_image !== '' && (
          <div className={kitCss.sendChips}>
            <AlongChip
              image={draft.base_image}
              change="修改图片"
              without="不用这张图片"
              onChange={openSheet}
              onRemove={() => changeVideoDraft(uuid, { base_image: '' })}
            >
              图片
            </AlongChip>
          </div>
        )}
        <div className={boxCss.sendLine} data-writer="chat">
          <button
            type="button"
            className="round"
            aria-label="选择图片与动法"
            aria-haspopup="dialog"
            onClick={openSheet}
          >
            <Icon name="film" size={22} />
          </button>
          <WordsField
            ref={box}
            text={text}
            placeholder="怎样动起来（可不填）…"
            label="画面描述"
            onText={setText}
            onSend={send}
          />
          <MakeButton word="制作" price={price} />
        </div>
      </div>
    </BoxForm>
  );
};
