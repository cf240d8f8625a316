import { useAuth } from '#src/platform/auth-store.ts';
import { useDraft } from '#src/platform/draft.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { toast } from '#src/platform/toast.ts';
import { useEver } from '#src/platform/use-ever.ts';
import { PathIcon } from '#src/ui/icon.tsx';
import { useEffect, useRef, useState, type PointerEvent } from 'react';
import css from './voice-button.module.css';

const micPath =
  'M12 14.500a3 3 0 0 0 3-3v-5a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3ZM5.500 11.500a6.500 6.500 0 0 0 13 0M12 18v3';
const VoiceSheet = lazyAsked(() => import('./voice-sheet.tsx'));
const VoiceHold = lazyAsked(() => import('./voice-hold.tsx'));

/** A press that is held longer than this is spoken into, ms. */
const holdMs = 300;
/** A finger that slides up so far calls it off, px. */
const awayPx = 80;

/** The box that it speaks into. */
export interface SpokenInto {
  text: string;
  setText: (text: string) => void;
  /** Sends what is in it. */
  send: () => void;
}

/** Said once a page of what a page before it left. */
let told = false;

/** How the finger stands that is spoken into; null: there is none. */
type Hold = 'held' | 'away' | 'sent' | 'off' | null;

/** Follows a finger that is held on the button. */
const useHold = (able: boolean) => {
  const [hold, setHold] = useState<Hold>(null);
  const from = useRef<{ y: number; timer: number } | null>(null);
  /** The click that ends a long press is none. */
  const spent = useRef(false);
  const drop = () => {
    clearTimeout(from.current?.timer);
    from.current = null;
  };
  useEffect(
    () => () => {
      clearTimeout(from.current?.timer);
    },
    [],
  );
  return {
    hold,
    end: () => setHold(null),
    isSpent: () => spent.current,
    hands: {
      onPointerDown: (event: PointerEvent<HTMLButtonElement>) => {
        spent.current = false;
        if (!able || event.button !== 0 || hold !== null) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const timer = window.setTimeout(() => {
          spent.current = true;
          setHold('held');
        }, holdMs);
        from.current = { y: event.clientY, timer };
      },
      onPointerMove: (event: PointerEvent) => {
        if (!from.current || hold === null) return;
        setHold(from.current.y - event.clientY > awayPx ? 'away' : 'held');
      },
      onPointerUp: () => {
        if (from.current && hold !== null) setHold(hold === 'away' ? 'off' : 'sent');
        drop();
      },
      onPointerCancel: () => {
        if (from.current && hold !== null) setHold('off');
        drop();
      },
    },
  };
};

/**
 * Speaks instead of typing. A tap opens the tool, which records at once; a finger that stays speaks
 * until it leaves, and what was said is sent.
 */
const VoiceButton = ({ state }: { state: SpokenInto }) => {
  const [open, setOpen] = useState(false);
  const used = useEver(open);
  const { token } = useAuth();
  const left = [useDraft('sound')[0], useDraft('voice')[0]].some((each) => each !== '');
  const { hold, end, isSpent, hands } = useHold(token !== '' && !left);
  /** What was said stands in the box a moment later. */
  const sends = useRef(false);
  useEffect(() => {
    if (left && !told) toast('您上次说的话还没有放进输入框，点麦克风接着来');
    told = true;
  }, [left]);
  useEffect(() => {
    if (!sends.current) return;
    sends.current = false;
    state.send();
  }, [state]);
  return (
    <>
      <button
        type="button"
        className={`round ${css.button}`}
        aria-label={left ? '语音输入，上次说的话还在' : '语音输入'}
        title="语音输入；按住说话，松开发送"
        aria-haspopup="dialog"
        data-left={left || undefined}
        data-held={hold !== null || undefined}
        onClick={() => {
          if (!isSpent()) setOpen(true);
        }}
        onContextMenu={(event) => event.preventDefault()}
        {...hands}
      >
        <PathIcon path={micPath} size={22} />
      </button>
      {hold !== null && (
        <VoiceHold
          hold={hold}
          onText={(heard) => {
            sends.current = true;
            state.setText(state.text + heard);
          }}
          onNothing={() => setOpen(true)}
          onEnd={end}
        />
      )}
      {used && (
        <VoiceSheet
          open={open}
          onClose={() => setOpen(false)}
          onText={(heard) => state.setText(state.text + heard)}
        />
      )}
    </>
  );
};

export default VoiceButton;
