/** What a refund took back, as it is kept to be given again when the refund fails. */
export interface Taken {
  tokens: number;
  [more: string]: unknown;
}
