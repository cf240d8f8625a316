import type { SessionDetail } from '#contract/session.ts';
import { createContext, useContext } from 'react';

/** The question that a session is about, among people; null: it is another kind of session. */
export const QuestionContext = createContext<SessionDetail | null>(null);

export const useQuestion = (): SessionDetail | null => useContext(QuestionContext);
