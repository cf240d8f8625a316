export interface GestureActs {
  /** The card of this uuid was swept aside; '': none is any more. */
  onSwipe: (uuid: string) => void;
  /** The list was pulled down; settles once it has been read anew. */
  onRefresh: () => Promise<unknown>;
}
