import { maskName } from '#src/platform/format.ts';
import { copyMade, copyText } from '#src/platform/copy.ts';
import { feel } from '#src/platform/haptics.ts';
import { useChatModels } from '#src/platform/queries.ts';
import { readQuestion } from '#src/platform/question.ts';
import { readAloud } from '#src/platform/speaking.ts';
import { Act } from '#src/ui/act.tsx';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import type { Message } from '#contract/chat.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { Suspense, useEffect, useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { acceptAnswer, copyLink, quote } from './question-acts.ts';
import { useQuestion } from './question-context.ts';

const ReportSheet = lazyAsked(() =>
  import('./question-sheets.tsx').then(({ ReportSheet: part }) => ({ default: part })),
);
const EditsSheet = lazyAsked(() =>
  import('./question-sheets.tsx').then(({ EditsSheet: part }) => ({ default: part })),
);

export interface MenuTarget {
  message: Message;
  part: 'question' | 'reply';
}

/** All that can be done with a message; opened by a long press or its ⋯. */
const MessageMenu = ({ target, onClose }: { target: MenuTarget | null; onClose: () => void }) => {
  const acts = useChatActs();
  const models = useChatModels();
  const [selecting, setSelecting] = useState<string | null>(null);
  const [asking, setAsking] = useState<Message | null>(null);
  const [sheet, setSheet] = useState<{ kind: 'report' | 'edits'; id: number } | null>(null);
  const question = useQuestion();
  useEffect(() => {
    if (target) feel('tick');
  }, [target]);
  const message = target?.message;
  const reply = target?.part === 'reply';
  const text = message ? (reply ? message.ai : readQuestion(message).text) : '';
  const mine = message?.user_id === acts.me;
  const may = acts.people ? mine : acts.owner;
  const saved = message !== undefined && message.id > 0;
  const branches =
    saved && acts.owner && acts.writable && !acts.people && !acts.temporary && !acts.sessionType;
  const accepted = message !== undefined && question?.accepted_id === message.id;
  // Where a model answered, its answer is what is accepted.
  const acceptable =
    question?.owner === true && (reply || (message?.title === '' && message.ai === ''));
  const named = question === null ? '这条提问' : message?.title === '' ? '这个回答' : '这个问题';
  const person = { id: message?.user_id ?? 0, name: maskName(message?.user_name ?? '') };
  const then = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <>
      <Sheet
        popover="list"
        open={target !== null}
        onClose={onClose}
        title={reply ? '这条回复' : named}
      >
        <Act
          icon="copy"
          label="复制"
          onClick={then(() => void (reply ? copyMade(text) : copyText(text)))}
        />
        <Act icon="document" label="选择文字" onClick={then(() => setSelecting(text))} />
        {saved && !acts.temporary && (
          <>
            <Act
              icon="like"
              label={message.liked ? '取消点赞' : '点赞'}
              onClick={then(() => acts.like(message))}
            />
            <Act
              icon="star"
              label={message.in_favorites ? '取消收藏' : '收藏'}
              onClick={then(() => acts.favourite(message))}
            />
          </>
        )}
        {reply && message && text !== '' && !acts.sessionType && (
          <Act
            icon="sound"
            label="朗读"
            onClick={then(() => readAloud({ historyId: acts.temporary ? 0 : message.id, text }))}
          />
        )}
        {reply && message && (
          <Act
            icon="code"
            label={acts.is('raw', message.id) ? '看排版' : '看原文'}
            onClick={then(() => acts.toggle('raw', message.id))}
          />
        )}
        {!reply && message && (branches || (acts.people && mine)) && (
          <Act
            icon="edit"
            label={acts.people ? '修改' : '修改问题'}
            onClick={then(() => acts.toggle('edit', message.id))}
          />
        )}
        {!reply && message && acts.people && acts.writable && !mine && (
          <Act
            icon="reply"
            label={`回复${person.name}`}
            onClick={then(() => acts.answerTo(person))}
          />
        )}
        {saved && acceptable && (
          <Act
            icon="check"
            label={accepted ? '取消采纳' : '采纳这个回答'}
            onClick={then(() => void acceptAnswer(acts.uuid, message.id, !accepted))}
          />
        )}
        {saved && question && !reply && (
          <>
            {acts.writable && (
              <Act
                icon="quote"
                label="引用回复"
                onClick={then(() => quote(acts.uuid, person, text, !mine))}
              />
            )}
            <Act
              icon="link"
              label="复制链接"
              onClick={then(() => copyLink(acts.uuid, message.id))}
            />
            {message.edited && (
              <Act
                icon="retry"
                label="修改记录"
                onClick={then(() => setSheet({ kind: 'edits', id: message.id }))}
              />
            )}
            {!mine && acts.me > 0 && (
              <Act
                icon="warning"
                label="举报"
                onClick={then(() => setSheet({ kind: 'report', id: message.id }))}
              />
            )}
          </>
        )}
        {branches && (
          <>
            <Act icon="retry" label="重新回答" onClick={then(() => acts.regenerate(message))} />
            {(models.data?.length ?? 0) > 1 && (
              <Act icon="spark" label="换个模型重新回答" onClick={then(() => setAsking(message))} />
            )}
          </>
        )}
        {saved && acts.forkable && !acts.sessionType && (
          <Act icon="fork" label="新建分支" onClick={then(() => acts.fork(message.id))} />
        )}
        {saved && may && (
          <Act
            icon="trash"
            label="删除这条消息"
            danger
            onClick={then(() => acts.remove(message))}
          />
        )}
      </Sheet>
      <Suspense fallback={null}>
        {sheet?.kind === 'report' && (
          <ReportSheet uuid={acts.uuid} id={sheet.id} onClose={() => setSheet(null)} />
        )}
        {sheet?.kind === 'edits' && (
          <EditsSheet uuid={acts.uuid} id={sheet.id} onClose={() => setSheet(null)} />
        )}
      </Suspense>
      <Sheet open={selecting !== null} onClose={() => setSelecting(null)} title="选择文字">
        <p className="selectable">{selecting}</p>
      </Sheet>
      <ModelSheet
        open={asking !== null}
        title="由哪个模型重新回答"
        value={asking?.model || acts.model}
        onClose={() => setAsking(null)}
        onChoose={(model) => {
          if (asking) acts.regenerate(asking, model);
        }}
      />
    </>
  );
};

export default MessageMenu;
