import { useAuth } from '#src/platform/auth-store.ts';
import { useDraft } from '#src/platform/draft.ts';
import { compactNumber } from '#common/compact-number.ts';
import { useModel, useVideoModels } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import { WordsField } from '#src/ui/words-field.tsx';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import type { SessionDetail } from '#contract/session.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { sendVideo } from './video-make.ts';
import { closeVideoSheet, openVideoSheet, useVideoSheet } from './video-dialog-store.ts';
import { changeVideoDraft, videoPrice, useVideoDraft } from './video-request.ts';
import { VideoSheet } from './video-sheet.tsx';
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
  const models = useVideoModels();
  const box = useGrowth(text);
  const change = useModelChange(uuid);
  const [choosing, setChoosing] = useState(false);
  const sheet = useVideoSheet(uuid);
  const price = model && videoPrice(model);
  const free = models.data?.find((each) => each.factor === 0);
  const goFree = () => {
    if (!free) return;
    if (first) change.choose(free.name);
    else acts.startAnew(text, 'free');
  };
  const have = user ? user.chatgpt_balance + (model?.vip_excluded ? 0 : user.vip_balance) : 0;
  const insufficient = user && signedIn && price && price.tokens > have;
  // Without an image the dialog asks for one.
  const send = () => {
    if (draft.base_image === '' && !/^https?:/.test(text.trim())) openVideoSheet(uuid);
    else void sendVideo(uuid, text, model, acts);
  };
  return (
    <form
      className={boxCss.send}
      data-send-box
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className={boxCss.sendInner}>
        <div className={`${boxCss.sendRow} ${drawCss.drawRow}`}>
          <SendModel
            name={session.model}
            model={model}
            first={first}
            onChoose={() => setChoosing(true)}
          />
          <button type="button" className={boxCss.sendModel} onClick={() => openVideoSheet(uuid)}>
            运动 {draft.motion_bucket_id}
          </button>
          <button type="button" className={boxCss.sendModel} onClick={() => openVideoSheet(uuid)}>
            忠于原图 {draft.cfg_scale.toFixed(1)}
          </button>
        </div>
        <div>
          {insufficient && (
            <div className={kitCss.sendNote} role="status">
              <p>
                余额不足：要 {price.text} tokens，还剩 {compactNumber(Math.max(0, have))}。
              </p>
              <Link className={kitCss.sendNoteAct} to="/account" search={{ tab: 'usage' }}>
                余额与充值
              </Link>
              {free && (
                <button type="button" className={kitCss.sendNoteAct} onClick={goFree}>
                  使用免费模型
                </button>
              )}
            </div>
          )}
          {draft.base_image !== '' && (
            <div className={kitCss.sendChips}>
              <span className={`${kitCss.sendChip} ${drawCss.drawBase}`}>
                <button
                  type="button"
                  className={drawCss.drawBaseView}
                  aria-label="修改图片"
                  onClick={() => openVideoSheet(uuid)}
                >
                  <img src={smallImage(draft.base_image, 128)} alt="" />
                  图片
                </button>
                <button
                  type="button"
                  aria-label="不用这张图片"
                  onClick={() => changeVideoDraft(uuid, { base_image: '' })}
                >
                  <Icon name="close" size={14} />
                </button>
              </span>
            </div>
          )}
          <div className={boxCss.sendLine} data-writer="chat">
            <button
              type="button"
              className="round"
              aria-label="选择图片与动法"
              aria-haspopup="dialog"
              onClick={() => openVideoSheet(uuid)}
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
            <button
              type="submit"
              className={`round ${boxCss.sendButton} ${drawCss.drawButton}`}
              data-sender
              aria-label={price ? `制作，${price.words}` : '制作'}
              title={price?.words}
            >
              <Icon name="send" size={20} />
              <span>{price?.text ?? '制作'}</span>
            </button>
          </div>
        </div>
      </div>
      <ModelSheet
        open={choosing}
        value={session.model}
        films
        onClose={() => setChoosing(false)}
        onChoose={change.choose}
      />
      <VideoSheet session={session} model={model} open={sheet} onClose={closeVideoSheet} />
      <ModelFailure reason={change.reason} onClose={change.forget} onFree={goFree} />
    </form>
  );
};
