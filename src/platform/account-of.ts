import { subjectOf } from '#sw/token.ts';

/** The account a token names; a token of another form names nobody but itself. */
export const accountOf = (token: string): string => subjectOf(token) ?? token;
