import { copyText } from '@/shared/markdown/copy.ts';
import { feel } from '@/shared/haptics.ts';
import { useChatModels } from '@/shared/queries.ts';
import { readQuestion } from '@/shared/question.ts';
import { Act } from '@/shared/ui/act.tsx';
import { ModelSheet } from '@/shared/ui/model-sheet.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import type { Message } from '@contract/chat.ts';
import { useEffect, useState } from 'react';
import { useChatActs } from './chat-context.ts';

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
    saved && acts.owner && acts.writable && !acts.people && !acts.temporary && !acts.pictures;
  const person = { id: message?.user_id ?? 0, name: message?.user_name ?? '' };
  const then = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <>
      <Sheet open={target !== null} onClose={onClose} title={reply ? '这条回复' : '这条提问'}>
        <Act icon="copy" label="复制" onClick={then(() => void copyText(text))} />
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
        {branches && (
          <>
            <Act icon="retry" label="重新回答" onClick={then(() => acts.regenerate(message))} />
            {(models.data?.length ?? 0) > 1 && (
              <Act icon="spark" label="换个模型重新回答" onClick={then(() => setAsking(message))} />
            )}
          </>
        )}
        {saved && acts.forkable && !acts.pictures && (
          <Act icon="fork" label="从这里接着聊" onClick={then(() => acts.fork(message.id))} />
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
