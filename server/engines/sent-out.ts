/**
 * Says that a request goes out which its service bills. Gives what to call when the service said no
 * to it after all, or never answered.
 * @param takeBack asks the service to take it back, when its person stops it; true: it did. Left out:
 *   it takes nothing back
 */
export type SentOut = (takeBack?: () => Promise<boolean>) => () => void;
