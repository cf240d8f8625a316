import { useDraft } from '#src/platform/draft.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { toast } from '#src/platform/toast.ts';
import { useEver } from '#src/platform/use-ever.ts';
import { PathIcon } from '#src/ui/icon.tsx';
import { Suspense, useEffect, useState } from 'react';
import css from './chat.module.css';
import type { BoxState } from './box-state.ts';

const micPath =
  'M12 14.500a3 3 0 0 0 3-3v-5a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3ZM5.500 11.500a6.500 6.500 0 0 0 13 0M12 18v3';
const VoiceSheet = lazyAsked(() => import('#src/widgets/voice/voice-sheet.tsx'));

/** Said once a page of what a page before it left. */
let told = false;

/** Speaks instead of typing: what was said goes behind what stands in the box. */
export const VoiceButton = ({ state }: { state: BoxState }) => {
  const [open, setOpen] = useState(false);
  const used = useEver(open);
  const left = [useDraft('sound')[0], useDraft('voice')[0]].some((each) => each !== '');
  useEffect(() => {
    if (left && !told) toast('您上次说的话还没有放进输入框，点麦克风接着来');
    told = true;
  }, [left]);
  return (
    <>
      <button
        type="button"
        className={`round ${css.voice}`}
        aria-label={left ? '语音输入，上次说的话还在' : '语音输入'}
        title="语音输入"
        aria-haspopup="dialog"
        data-left={left || undefined}
        onClick={() => setOpen(true)}
      >
        <PathIcon path={micPath} size={22} />
      </button>
      {used && (
        <Suspense fallback={null}>
          <VoiceSheet
            open={open}
            onClose={() => setOpen(false)}
            onText={(heard) => state.setText(state.text + heard)}
          />
        </Suspense>
      )}
    </>
  );
};
