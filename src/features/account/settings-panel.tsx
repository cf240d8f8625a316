import { accentChoices, colourOf, tonesOf } from '#src/platform/accent-tones.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { prefsStore, usePrefs } from '#src/platform/prefs.ts';
import { useChatModels, useImageModels, useModel, useSpeakModels } from '#src/platform/queries.ts';
import { ColourDots } from '#src/ui/colour-dots/colour-dots.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { toolTokens } from '#common/tool-models.ts';
import { limits } from '#contract/limits.ts';
import type { Settings } from '#contract/auth.ts';
import type { Model } from '#contract/model.ts';
import { Link } from '@tanstack/react-router';
import { ChoiceField } from './choice-field.tsx';
import { Danger } from './danger.tsx';
import { NotifySettings } from './notify-settings.tsx';
import { useSaveSettings } from '#src/platform/save-settings.ts';
import css from './account.module.css';

const penalty = (value: number) => (value / 5).toFixed(1);

const DefaultModel = ({
  label,
  models,
  value,
  onChange,
}: {
  label: string;
  models: readonly Model[];
  value: string;
  onChange: (name: string) => void;
}) => (
  <label className={css.settingsSelect}>
    <span>{label}</span>
    <select value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">由系统选择</option>
      {models.map((model) => (
        <option key={model.name} value={model.name}>
          {model.label}
        </option>
      ))}
    </select>
  </label>
);

const accents = [{ value: '', label: '默认' }, ...accentChoices];

/** How it looks: in this browser at once, and with the account for the next sign-in elsewhere. */
const Looks = ({ save }: { save: (change: Settings) => void }) => {
  const prefs = usePrefs();
  const wide = useMedia(wideEnoughForMenu);
  return (
    <section className={`card ${css.settingsGroup}`}>
      <h2>外观</h2>
      <ChoiceField
        label="主题"
        value={prefs.theme}
        choices={[
          { value: 'wechat', label: '微信' },
          { value: 'telegram', label: 'Telegram' },
        ]}
        onChange={(theme) => {
          prefsStore.set({ theme });
          save({ theme });
        }}
      />
      <div className={css.themeSample} aria-hidden="true">
        <span className={css.sampleTheirs}>您好，想聊点什么？</span>
        <span className={css.sampleMine}>帮我想个名字</span>
      </div>
      <div className={css.choice}>
        <span>主题色</span>
        <ColourDots
          label="主题色"
          value={colourOf(prefs.accent)}
          choices={accents}
          onChange={(accent) => {
            prefsStore.set({ accent, tones: tonesOf(accent) });
            save({ theme_color: accent });
          }}
        />
      </div>
      <ChoiceField
        label="文字大小"
        value={prefs.text}
        choices={[
          { value: 90, label: '小' },
          { value: 100, label: '标准' },
          { value: 115, label: '大' },
          { value: 130, label: '特大' },
        ]}
        onChange={(text) => {
          prefsStore.set({ text });
          save({ text_size: text });
        }}
      />
      <ChoiceField
        label="深色"
        value={prefs.dark}
        choices={[
          { value: 'system', label: '跟随系统' },
          { value: 'light', label: '浅色' },
          { value: 'dark', label: '深色' },
        ]}
        onChange={(dark) => {
          prefsStore.set({ dark });
          save({ dark_style: dark });
        }}
      />
      {wide && (
        <ChoiceField
          label="内容最大宽度"
          value={prefs.width}
          choices={[
            { value: 960, label: '960' },
            { value: 1080, label: '1080' },
            { value: 1200, label: '1200' },
          ]}
          onChange={(width) => {
            prefsStore.set({ width });
            save({ max_width: width });
          }}
        />
      )}
    </section>
  );
};

/** How replies are read aloud. */
const VoiceSettings = () => {
  const { settings, save } = useSaveSettings();
  const models = useSpeakModels().data ?? [];
  const name = settings.default_audio_model || (models[0]?.name ?? '');
  const voices = Object.entries(useModel(name)?.voice ?? {});
  const { min, max, usual } = limits.speech.speed;
  return (
    <section className={`card ${css.settingsGroup}`}>
      <h2>朗读</h2>
      <DefaultModel
        label="默认朗读模型"
        models={models}
        value={settings.default_audio_model ?? ''}
        onChange={(default_audio_model) => save({ default_audio_model })}
      />
      {voices.length > 0 && (
        <label className={css.settingsSelect}>
          <span>声音</span>
          <select
            value={settings.audio_voice ?? ''}
            onChange={(event) => save({ audio_voice: event.target.value })}
          >
            <option value="">由系统选择</option>
            {voices.map(([voice, label]) => (
              <option key={voice} value={voice}>
                {label}
              </option>
            ))}
          </select>
        </label>
      )}
      <SliderField
        label="语速"
        min={min}
        max={max}
        step={0.1}
        value={settings.audio_speed ?? usual}
        show={(value) => `${value.toFixed(1)}×`}
        onChange={(audio_speed) => save({ audio_speed })}
      />
    </section>
  );
};

const ChatSettings = () => {
  const models = useChatModels().data ?? [];
  const { settings, save } = useSaveSettings();
  return (
    <section className={`card ${css.settingsGroup}`}>
      <h2>聊天</h2>
      <DefaultModel
        label="默认模型"
        models={models}
        value={settings.default_chat_model ?? ''}
        onChange={(default_chat_model) => {
          save({ default_chat_model });
          prefsStore.set({ model: default_chat_model });
        }}
      />
      <SwitchField
        label="按 Enter 换行"
        hint="打开后用 Ctrl+Enter 发送；关闭时 Enter 就是发送"
        checked={settings.disable_enter === 1}
        onChange={(on) => save({ disable_enter: on ? 1 : 0 })}
      />
      <SwitchField
        label="让模型使用工具"
        hint={`计算、日期、搜索这里、打开网页、运行代码、画图、做文件、翻译文件；每次提问多约 ${toolTokens} tokens`}
        checked={settings.tools !== 0}
        onChange={(on) => save({ tools: on ? 1 : 0 })}
      />
      <p className="field">
        <Link to="/tools">工具服务（MCP）</Link>
      </p>
      <SwitchField
        label="显示 token 用量"
        hint="在自己会话的每条回复下面"
        checked={settings.show_token_usage === 1}
        onChange={(on) => save({ show_token_usage: on ? 1 : 0 })}
      />
    </section>
  );
};

const ReplySettings = () => {
  const { settings, save } = useSaveSettings();
  const { defaults } = limits;
  return (
    <section className={`card ${css.settingsGroup}`}>
      <h2>回复的方式</h2>
      <SliderField
        label="随机性"
        hint="小：稳妥一致；大：多变有创意"
        min={1}
        max={20}
        value={settings.temperature ?? defaults.temperature}
        show={(value) => (value / 10).toFixed(1)}
        onChange={(temperature) => save({ temperature })}
      />
      <SliderField
        label="新话题倾向"
        hint="大：更愿意谈还没谈过的内容"
        min={0}
        max={10}
        value={settings.presence_penalty ?? defaults.penalty}
        show={penalty}
        onChange={(presence_penalty) => save({ presence_penalty })}
      />
      <SliderField
        label="避免重复"
        hint="大：更少重复同样的词句"
        min={0}
        max={10}
        value={settings.frequency_penalty ?? defaults.penalty}
        show={penalty}
        onChange={(frequency_penalty) => save({ frequency_penalty })}
      />
      <SliderField
        label="带上前面的对话"
        hint="随问题一起发送的前面几轮问答，越多越费 token"
        min={0}
        max={10}
        value={settings.max_history ?? defaults.max_history}
        show={(value) => `${value} 轮`}
        onChange={(max_history) => save({ max_history })}
      />
    </section>
  );
};

export const SettingsPanel = () => {
  const { token, user } = useAuth();
  const painters = useImageModels().data ?? [];
  const { settings, save } = useSaveSettings();
  const forced = user?.session_private === 1;
  return (
    <>
      <Looks save={save} />
      {token === '' ? (
        <section className={`card ${css.settingsGroup}`}>
          <h2>聊天</h2>
          <p className={css.settingsNote}>
            开始第一个会话或<Link to="/login">登录</Link>
            之后，可以设置默认模型、发送键和回复的方式。
          </p>
        </section>
      ) : (
        <>
          <ChatSettings />
          <NotifySettings />
          <section className={`card ${css.settingsGroup}`}>
            <h2>画图</h2>
            <DefaultModel
              label="默认画图模型"
              models={painters}
              value={settings.default_image_model ?? ''}
              onChange={(default_image_model) => {
                save({ default_image_model });
                prefsStore.set({ painter: default_image_model });
              }}
            />
            <SwitchField
              label="把提示词翻译成英文"
              hint="只看得懂英文的模型需要；在画图工具里可以逐次更改"
              checked={settings.translate === 1}
              onChange={(on) => save({ translate: on ? 1 : 0 })}
            />
          </section>
          <VoiceSettings />
          <section className={`card ${css.settingsGroup}`}>
            <h2>隐私</h2>
            <SwitchField
              label="默认私有"
              hint={
                forced
                  ? '管理员已把您的会话设为强制私有，如有疑问请联系管理员'
                  : '新会话只有自己看得到，之后可以逐个公开。关闭后新会话都是公开的'
              }
              checked={forced || settings.private_global !== 0}
              disabled={forced}
              onChange={(on) => save({ private_global: on ? 1 : 0 })}
            />
          </section>
          <ReplySettings />
          <Danger />
        </>
      )}
    </>
  );
};
