import { Chip } from '#src/ui/chip.tsx';
import { stopReading, type Spoken } from '#src/platform/speaking.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { limits } from '#contract/limits.ts';
import { useEffect, useState } from 'react';
import { device, usePlayer } from './use-player.ts';
import css from './voice.module.css';

const play = 'M8 5.500v13l10.500-6.500L8 5.500Z';
const pause = 'M8 5.500v13M16 5.500v13';
/** After its last word the player stays so long, to be played again, ms. */
const lingerMs = 4_000;
const { min, max } = limits.speech.speed;

/** Who reads, with which voice and how fast. */
const PlayerSettings = ({ player }: { player: ReturnType<typeof usePlayer> }) => {
  const { own, models, name, voices, voice, speed, price, busy, save, forget, read } = player;
  return (
    <div className={css.settings}>
      <div className={css.models} role="radiogroup" aria-label="朗读模型">
        {[...(own ? [{ name: device, label: '设备自带', factor: 0 }] : []), ...models].map(
          (each) => (
            <Chip
              key={each.name}
              role="radio"
              aria-checked={each.name === name}
              onClick={() => {
                forget();
                save({ default_audio_model: each.name });
              }}
            >
              {each.label}
              <small>{each.factor === 0 ? '免费' : `每字 ${each.factor} tokens`}</small>
            </Chip>
          ),
        )}
      </div>
      {voices.length > 0 && (
        <div className={css.models} role="radiogroup" aria-label="声音">
          {voices.map(([each, label]) => (
            <Chip
              key={each}
              role="radio"
              aria-checked={each === voice}
              onClick={() => {
                forget();
                save({ audio_voice: each });
              }}
            >
              {label}
            </Chip>
          ))}
        </div>
      )}
      <SliderField
        label="语速"
        min={min}
        max={max}
        step={0.1}
        value={speed}
        show={(value) => `${value.toFixed(1)}×`}
        onChange={(audio_speed) => save({ audio_speed })}
      />
      {name !== device && (
        <Button onClick={() => read(1)} busy={busy}>
          重新生成{price > 0 && ` · ${price} tokens`}
        </Button>
      )}
    </div>
  );
};

/** The player of a reply: goes on while one reads on, and is led from the lock screen, too. */
const PlayerBar = ({ spoken }: { spoken: Spoken }) => {
  const player = usePlayer(spoken);
  const { audio, seek, name, model, words, price, playing, source, busy, waiting, toggle, heard } =
    player;
  const [choosing, setChoosing] = useState(false);
  const { ended = false } = playing;
  useEffect(() => {
    if (!ended || choosing) return undefined;
    const timer = setTimeout(stopReading, lingerMs);
    return () => clearTimeout(timer);
  }, [ended, choosing]);
  return (
    <section className={css.bar} aria-label="朗读">
      <button
        type="button"
        aria-label={playing.paused ? '播放' : '暂停'}
        aria-busy={busy || undefined}
        disabled={busy}
        onClick={toggle}
      >
        <PathIcon path={playing.paused ? play : pause} />
      </button>
      <div className={css.about}>
        <span>
          {busy
            ? '正在准备…'
            : waiting
              ? `${model?.label ?? ''} · 最多 ${price} tokens，点播放开始`
              : words.slice(0, 60)}
        </span>
        {!busy && !waiting && playing.time !== '' && <time>{playing.time}</time>}
        <input
          type="range"
          min={0}
          max={1000}
          value={Math.round(playing.at * 1000)}
          aria-label="播放进度"
          disabled={name === device || source === ''}
          style={{ '--part': `${playing.at * 100}%` } as React.CSSProperties}
          onChange={(event) => seek(Number(event.target.value) / 1000)}
        />
      </div>
      <button type="button" aria-label="朗读设置" onClick={() => setChoosing(true)}>
        <Icon name="settings" />
      </button>
      <button type="button" aria-label="关闭朗读" onClick={stopReading}>
        <Icon name="close" />
      </button>
      {/* What it says stands on the page. */}
      <audio ref={audio} {...heard} />
      <Sheet popover="panel" open={choosing} onClose={() => setChoosing(false)} title="朗读">
        <PlayerSettings player={player} />
      </Sheet>
    </section>
  );
};

export default PlayerBar;
