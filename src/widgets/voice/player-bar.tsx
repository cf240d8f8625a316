import { Chip } from '@/ui/chip.tsx';
import { errorText } from '@/platform/api-error.ts';
import { reportTime } from '@/platform/report-time.ts';
import { useAuth } from '@/platform/auth-store.ts';
import { useModel, useSpeakModels } from '@/platform/queries.ts';
import { useSaveSettings } from '@/platform/save-settings.ts';
import { stopReading, type Spoken } from '@/platform/speaking.ts';
import { toast } from '@/platform/toast.ts';
import { Button } from '@/ui/button.tsx';
import { Icon, PathIcon } from '@/ui/icon.tsx';
import { Sheet } from '@/ui/sheet.tsx';
import { SliderField } from '@/ui/slider-field.tsx';
import { speechText, spokenLength } from '@common/speech-text.ts';
import { limits } from '@contract/limits.ts';
import { speakingDeduction } from '@contract/price.ts';
import { useEffect, useRef, useState } from 'react';
import { deviceSpeaks } from './device-speech.ts';
import { readSound } from './read-sound.ts';
import type { Sound } from './sound-in-parts.ts';
import css from './voice.module.css';

const play = 'M8 5.500v13l10.500-6.500L8 5.500Z';
const pause = 'M8 5.500v13M16 5.500v13';
const device = 'device';
/** After its last word the player stays so long, to be played again, ms. */
const lingerMs = 4_000;
const { min, max, usual } = limits.speech.speed;

/** The speed that is saved; above the range it is the usual one. */
const speedOf = (saved: number | undefined): number =>
  saved === undefined || saved > max ? usual : Math.max(min, saved);

/** Who reads: what was chosen, else the device where it can, else what is built in. */
const useReader = () => {
  const { settings, save } = useSaveSettings();
  const models = useSpeakModels().data ?? [];
  const { signedIn } = useAuth();
  const usable = models.filter(({ factor }) => signedIn || factor === 0);
  const own = deviceSpeaks();
  const saved = settings.default_audio_model ?? '';
  const named = saved === device ? own : usable.some(({ name }) => name === saved);
  const name = named
    ? saved
    : own
      ? device
      : (usable.find((each) => each.built_in)?.name ?? usable[0]?.name ?? '');
  return { name, models: usable, own, speed: speedOf(settings.audio_speed), settings, save };
};

const report = (state: 'success' | 'error', model: string, from: number): void => {
  const time = performance.now() - from;
  reportTime({ model, state, asked: Date.now() - time, time });
};

/** What plays: sound that was fetched, or the device's own voice. */
interface Playing {
  paused: boolean;
  /** All was said. */
  ended?: boolean;
  /** Part that was heard, 0 to 1. */
  at: number;
  /** Such as `0:12 / 1:05`; empty: not known. */
  time: string;
}

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
const stopped: Playing = { paused: true, at: 0, time: '' };

/** The player of a reply: goes on while one reads on, and is led from the lock screen, too. */
const PlayerBar = ({ spoken }: { spoken: Spoken }) => {
  const reader = useReader();
  const { name, speed, settings, save } = reader;
  const model = useModel(name);
  const words = speechText(spoken.text);
  const length = spokenLength(words);
  const voices = Object.entries(model?.voice ?? {});
  const voice = voices.some(([key]) => key === settings.audio_voice)
    ? (settings.audio_voice ?? '')
    : (voices[0]?.[0] ?? '');
  const price = model && model.factor > 0 ? speakingDeduction(model, length) : 0;
  const audio = useRef<HTMLAudioElement>(null);
  const [playing, setPlaying] = useState(stopped);
  const [source, setSource] = useState('');
  const [busy, setBusy] = useState(false);
  const [choosing, setChoosing] = useState(false);
  const fetching = useRef<AbortController | null>(null);
  /** Where the next source begins, seconds. */
  const startAt = useRef(0);
  const broken = useRef(false);

  const sayByDevice = () => {
    speechSynthesis.cancel();
    const saying = new SpeechSynthesisUtterance(words);
    saying.lang = /\p{Script=Han}/u.test(words) ? 'zh-CN' : 'en-US';
    saying.rate = speed;
    saying.onboundary = ({ charIndex }) =>
      setPlaying({ ...stopped, paused: false, at: charIndex / Math.max(1, words.length) });
    saying.onend = () => setPlaying({ ...stopped, ended: true });
    speechSynthesis.speak(saying);
    setPlaying({ ...stopped, paused: false });
  };

  const change = (url: string, at = 0) => {
    startAt.current = at;
    setSource((old) => {
      if (old !== '') URL.revokeObjectURL(old);
      return url;
    });
  };

  /** Waits for the rest of what is playing. */
  const follow = async ({ whole }: Sound, signal: AbortSignal) => {
    try {
      const instead = await whole;
      if (instead && !signal.aborted)
        change(URL.createObjectURL(instead), audio.current?.currentTime);
    } catch (error) {
      if (signal.aborted) return;
      broken.current = true;
      toast(errorText(error), 'error');
    }
  };

  const fetchSound = async (refresh: 0 | 1, at = 0) => {
    if (name === '') return;
    if (name === device) {
      sayByDevice();
      return;
    }
    fetching.current?.abort();
    const abort = new AbortController();
    fetching.current = abort;
    setBusy(true);
    const from = performance.now();
    try {
      // Its speed is changed as it plays, so that the same sound is made once.
      const input = { model: name, voice, text: spoken.text, speed: usual, refresh };
      const about = spoken.historyId > 0 ? { history_id: spoken.historyId } : {};
      const sound = await readSound({ ...input, ...about }, abort.signal);
      report('success', name, from);
      broken.current = false;
      change(sound.url, at);
      void follow(sound, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) return;
      report('error', name, from);
      toast(errorText(error), 'error');
    }
    setBusy(false);
  };

  // What costs nothing begins at once; for the rest its price is seen before.
  const begun = useRef('');
  const key = `${name} ${voice}`;
  const begin = useRef(fetchSound);
  useEffect(() => {
    begin.current = fetchSound;
  });
  useEffect(() => {
    if (name === '' || price > 0 || begun.current === key) return;
    begun.current = key;
    void begin.current(0);
  }, [name, key, price]);
  useEffect(() => {
    const sound = audio.current;
    if (!sound || source === '') return;
    sound.src = source;
    if (startAt.current > 0) sound.currentTime = startAt.current;
    sound.play().catch(() => undefined);
  }, [source]);
  useEffect(() => {
    const sound = audio.current;
    if (!sound) return;
    // The one counts now, the other once another sound is loaded.
    sound.playbackRate = speed;
    sound.defaultPlaybackRate = speed;
  }, [speed]);
  useEffect(
    () => () => {
      fetching.current?.abort();
      if (deviceSpeaks()) speechSynthesis.cancel();
    },
    [],
  );

  const { ended = false } = playing;
  useEffect(() => {
    if (!ended || choosing) return undefined;
    const timer = setTimeout(stopReading, lingerMs);
    return () => clearTimeout(timer);
  }, [ended, choosing]);

  const toggle = () => {
    if (name === device) {
      if (!speechSynthesis.speaking) sayByDevice();
      else if (playing.paused) speechSynthesis.resume();
      else speechSynthesis.pause();
      setPlaying((before) => ({ ...before, paused: !before.paused }));
      return;
    }
    const sound = audio.current;
    if (source === '') void fetchSound(0);
    else if (broken.current && sound?.paused) void fetchSound(0, sound.currentTime);
    else if (sound?.paused) sound.play().catch(() => undefined);
    else sound?.pause();
  };
  const latest = useRef(toggle);
  useEffect(() => {
    latest.current = toggle;
  });
  useEffect(() => {
    const session = (navigator as { mediaSession?: MediaSession }).mediaSession;
    if (!session || typeof MediaMetadata === 'undefined') return undefined;
    session.metadata = new MediaMetadata({ title: words.slice(0, 80), artist: '鹊桥' });
    const jump = (seconds: number) => {
      const sound = audio.current;
      if (sound) sound.currentTime = Math.max(0, sound.currentTime + seconds);
    };
    session.setActionHandler('play', () => latest.current());
    session.setActionHandler('pause', () => latest.current());
    session.setActionHandler('stop', stopReading);
    session.setActionHandler('seekbackward', () => jump(-10));
    session.setActionHandler('seekforward', () => jump(10));
    return () => {
      for (const action of ['play', 'pause', 'stop', 'seekbackward', 'seekforward'] as const)
        session.setActionHandler(action, null);
      session.metadata = null;
    };
  }, [words]);

  const waiting = source === '' && name !== device && price > 0 && !busy;
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
          onChange={(event) => {
            const sound = audio.current;
            if (sound && Number.isFinite(sound.duration))
              sound.currentTime = (Number(event.target.value) / 1000) * sound.duration;
          }}
        />
      </div>
      <button type="button" aria-label="朗读设置" onClick={() => setChoosing(true)}>
        <Icon name="settings" />
      </button>
      <button type="button" aria-label="关闭朗读" onClick={stopReading}>
        <Icon name="close" />
      </button>
      {/* What it says stands on the page. */}
      <audio
        ref={audio}
        onPlay={() => setPlaying((before) => ({ ...before, paused: false, ended: false }))}
        onPause={() => setPlaying((before) => ({ ...before, paused: true }))}
        onEnded={() => setPlaying((before) => ({ ...before, paused: true, ended: true }))}
        onError={() => {
          if (source !== '') toast('音频文件获取错误', 'error');
        }}
        onTimeUpdate={({ currentTarget: { currentTime, duration, paused } }) =>
          setPlaying(({ ended: was }) => ({
            paused,
            ended: was === true && paused,
            at: duration > 0 ? currentTime / duration : 0,
            time: clock(currentTime) + (Number.isFinite(duration) ? ` / ${clock(duration)}` : ''),
          }))
        }
      />
      <Sheet open={choosing} onClose={() => setChoosing(false)} title="朗读">
        <div className={css.settings}>
          <div className={css.models} role="radiogroup" aria-label="朗读模型">
            {[
              ...(reader.own ? [{ name: device, label: '设备自带', factor: 0 }] : []),
              ...reader.models,
            ].map((each) => (
              <Chip
                key={each.name}
                role="radio"

                aria-checked={each.name === name}
                onClick={() => {
                  setSource('');
                  save({ default_audio_model: each.name });
                }}
              >
                {each.label}
                <small>{each.factor === 0 ? '免费' : `每字 ${each.factor} tokens`}</small>
              </Chip>
            ))}
          </div>
          {voices.length > 0 && (
            <div className={css.models} role="radiogroup" aria-label="声音">
              {voices.map(([each, label]) => (
                <Chip
                  key={each}
                  role="radio"

                  aria-checked={each === voice}
                  onClick={() => {
                    setSource('');
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
            <Button onClick={() => void fetchSound(1)} busy={busy}>
              重新生成{price > 0 && ` · ${price} tokens`}
            </Button>
          )}
        </div>
      </Sheet>
    </section>
  );
};

export default PlayerBar;
