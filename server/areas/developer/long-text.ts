/** Pieces that are joined in one go. */
const joinedAtOnce = 1024;

/** A text that comes in very many short pieces, each of which takes forty bytes beside its letters. */
export class LongText {
  readonly #joined: string[] = [];
  #pieces: string[] = [];

  add(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    if (this.#pieces.length < joinedAtOnce) return;
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  whole(): string {
    return this.#joined.join('') + this.#pieces.join('');
  }
}
