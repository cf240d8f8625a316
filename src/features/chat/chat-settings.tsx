import { sessionTypes } from '#contract/kinds.ts';
import { Link } from '@tanstack/react-router';
import { useAct } from '#src/platform/use-act.ts';
import { act, laterText } from '#src/platform/outbox.ts';
import { useChatModels, useImageModels } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { toast } from '#src/platform/toast.ts';
import { codes } from '#contract/errors.ts';
import { toolTokens } from '#common/tool-models.ts';
import { limits } from '#contract/limits.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useState } from 'react';
import { useChoices } from './chat-choices.ts';
import { useEditedSettings } from './edited-settings.ts';
import css from './chat-settings.module.css';
import { useModelChange } from '#src/widgets/composer/model-change.ts';
import { ModelFailure } from '#src/widgets/composer/model-failure.tsx';

const Privacy = ({
  session,
  globallyPrivate,
  onPublish,
}: {
  session: SessionDetail;
  globallyPrivate: boolean;
  onPublish: () => void;
}) => {
  const { busy, run } = useAct();
  const close = async () => {
    await run(async () => {
      const change = { session_id: session.uuid, private: 1 } as const;
      const done = await act('setSession', session.uuid, change);
      toast(done ? '会话状态更改' : `会话状态更改，${laterText}`, 'success');
    });
  };
  const reason = session.private_forced
    ? codes.private_forced.text
    : globallyPrivate
      ? ''
      : codes.private_global_off.text;
  return (
    <SwitchField
      label="这个会话设为私有"
      hint={reason || '关闭后，任何人都能在公共频道里看到这个会话'}
      checked={session.private === 1}
      disabled={busy || reason !== ''}
      onChange={(on) => {
        if (on) void close();
        else onPublish();
      }}
    />
  );
};

/** The model of an empty session; one that has messages keeps its own. */
const ModelChoice = ({ session, first }: { session: SessionDetail; first: boolean }) => {
  const models = useChatModels();
  const [open, setOpen] = useState(false);
  const { choose, reason, forget } = useModelChange(session.uuid);
  const known = models.data?.find(({ name }) => name === session.model);
  const free = models.data?.find(({ factor }) => factor === 0)?.name;
  return (
    <>
      <button
        type="button"
        className={css.settingsModel}
        disabled={!first}
        onClick={() => setOpen(true)}
      >
        <span className="switch-words">
          <span>{known?.label ?? session.model}</span>
          <small className="field-hint">
            {first ? '还没有消息，可以换' : '有了消息以后，模型不能再换'}
          </small>
        </span>
        {first && <Icon name="forward" size={18} />}
      </button>
      <ModelSheet
        open={open}
        value={session.model}
        onClose={() => setOpen(false)}
        onChoose={choose}
      />
      <ModelFailure
        reason={reason}
        onClose={forget}
        onFree={() => {
          if (free !== undefined) choose(free);
        }}
      />
    </>
  );
};

/** How the next images of this session are drawn stands in the tool. */
const ImageSettings = ({ model, onTool }: { model: string; onTool: () => void }) => {
  const models = useImageModels();
  const label = models.data?.find(({ name }) => name === model)?.label ?? model;
  return (
    <>
      <h3>画图</h3>
      <button type="button" className={css.settingsModel} onClick={onTool}>
        <span className="switch-words">
          <span>尺寸、张数、风格和参数</span>
          <small className="field-hint">由「{label}」画</small>
        </span>
        <Icon name="forward" size={18} />
      </button>
    </>
  );
};

/** What a session was begun with goes along with each question. */
const Along = ({ session }: { session: SessionDetail }) => {
  const [choices, choose] = useChoices(session.uuid);
  return (
    <>
      {session.scenario && (
        <>
          <h3>场景「{session.scenario.name}」</h3>
          <SwitchField
            label="把问题放进场景的模板"
            hint="关闭后，问题照原样发给模型"
            checked={choices.withTemplate}
            onChange={(withTemplate) => choose({ withTemplate })}
          />
          <p className={css.settingsText}>{session.scenario.prompt}</p>
        </>
      )}
      {session.embedding_key !== '' && (
        <>
          <h3>知识库「{session.embedding_name}」</h3>
          <SwitchField
            label="只按知识库回答"
            hint="打开后，知识库里没有的，模型会说没有"
            checked={choices.strict}
            onChange={(strict) => choose({ strict })}
          />
        </>
      )}
    </>
  );
};

const fifths = (value: number) => (value / 5).toFixed(1);
const { defaults } = limits;

const tempers = [
  {
    name: 'temperature',
    label: '随机性',
    hint: '小则稳定严谨，大则多变',
    usual: defaults.temperature,
    min: 1,
    max: 20,
    show: (value: number) => (value / 10).toFixed(1),
  },
  {
    name: 'presence_penalty',
    label: '新话题倾向',
    usual: defaults.penalty,
    min: 0,
    max: 10,
    show: fifths,
  },
  {
    name: 'frequency_penalty',
    label: '避免重复',
    usual: defaults.penalty,
    min: 0,
    max: 10,
    show: fifths,
  },
] as const;

const histories = {
  chat: {
    name: 'max_history',
    label: '带上前面的对话',
    hint: '每次提问附上最近几轮，越多越费 token',
    min: 0,
    unit: '轮',
  },
  people: {
    name: 'at_ai_max_history',
    label: '@ 模型时带上前面的消息',
    hint: '模型据此明白大家在说什么，越多越费 token',
    min: 1,
    unit: '条',
  },
} as const;

/** How a model writes here, and how much of what was said it reads. */
const Replies = ({
  chats,
  based,
  settings,
  change,
}: {
  chats: boolean;
  /** It is asked from a knowledge base. */
  based: boolean;
} & ReturnType<typeof useEditedSettings>) => {
  const { name, unit, ...history } = histories[chats ? 'chat' : 'people'];
  return (
    <>
      <h3>回复</h3>
      {tempers.map(({ name: temper, usual, ...shown }) => (
        <SliderField
          key={temper}
          {...shown}
          value={settings[temper] ?? usual}
          onChange={(value) => change({ [temper]: value })}
        />
      ))}
      {chats && based ? (
        <p className="field-hint">问知识库时，每次带上前面 {defaults.embedding_history} 轮对话。</p>
      ) : (
        <SliderField
          {...history}
          max={10}
          value={settings[name] ?? defaults[name]}
          show={(value) => (value === 0 ? '不带' : `${value} ${unit}`)}
          onChange={(value) => change({ [name]: value })}
        />
      )}
    </>
  );
};

/** What an owner sets for this session, and for all of theirs. */
export const ChatSettings = ({
  session,
  first,
  onTool,
  onPublish,
}: {
  session: SessionDetail;
  first: boolean;
  /** Opens the image tool of a session of images. */
  onTool: () => void;
  /** Opens what becomes public with the session. */
  onPublish: () => void;
}) => {
  const { settings, change } = useEditedSettings();
  const chats = session.type === sessionTypes.chat;
  const images = session.type === sessionTypes.image;
  const globallyPrivate = (settings.private_global ?? 1) === 1;
  return (
    <div className={css.chatSettings}>
      {chats && (
        <>
          <h3>模型</h3>
          <ModelChoice session={session} first={first} />
        </>
      )}
      {images && <ImageSettings model={session.model} onTool={onTool} />}
      <Along session={session} />
      <h3>隐私</h3>
      {session.temporary ? (
        <p className="field-hint">临时对话不保存在服务器上，只有自己能看。</p>
      ) : session.friend ? (
        <p className="field-hint">两个人的会话，只有您和对方能看。</p>
      ) : (
        <Privacy session={session} globallyPrivate={globallyPrivate} onPublish={onPublish} />
      )}
      <SwitchField
        label="默认私有"
        hint={
          session.private_forced
            ? codes.private_forced.text
            : '新会话只有自己能看；关闭后新会话都公开'
        }
        checked={globallyPrivate || session.private_forced}
        disabled={session.private_forced}
        onChange={(on) => change({ private_global: on ? 1 : 0 })}
      />
      {!images && (
        <Replies
          chats={chats}
          based={session.embedding_key !== ''}
          settings={settings}
          change={change}
        />
      )}
      <h3>操作</h3>
      <SwitchField
        label="Enter 键换行"
        hint="打开后用 Ctrl + Enter 或发送按钮发送"
        checked={settings.disable_enter === 1}
        onChange={(on) => change({ disable_enter: on ? 1 : 0 })}
      />
      <SwitchField
        label="让模型使用工具"
        hint={`计算、日期、搜索、打开网页、运行代码、画图、做文件、翻译文件；每次提问多约 ${toolTokens} tokens`}
        checked={settings.tools !== 0}
        onChange={(on) => change({ tools: on ? 1 : 0 })}
      />
      <p className="field">
        <Link to="/tools">工具服务（MCP）</Link>
      </p>
      <SwitchField
        label="显示 token 用量"
        checked={settings.show_token_usage === 1}
        onChange={(on) => change({ show_token_usage: on ? 1 : 0 })}
      />
    </div>
  );
};
