import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { useNavigate } from '@tanstack/react-router';

/** Puts words into the box of home and goes there; what somebody wrote there before is kept. */
export const useTryExample = () => {
  const navigate = useNavigate();
  return (prompt: string, draws = false) => {
    if (readDraft('home').trim() === '') writeDraft('home', prompt);
    void navigate({ to: '/', search: { new: 1, ...(draws && { tab: 'imagine' as const }) } });
  };
};
