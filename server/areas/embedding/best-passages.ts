/** The best of what is considered, most of which is not among them. */
export class Best {
  private kept: [place: number, score: number][] = [];
  private least = -Infinity;
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  consider(place: number, score: number): void {
    if (score <= this.least) return;
    this.kept.push([place, score]);
    if (this.kept.length < this.most * 8) return;
    this.kept = this.all;
    this.least = this.kept.at(-1)?.[1] ?? -Infinity;
  }

  get all(): [place: number, score: number][] {
    return this.kept
      .sort((one, other) => other[1] - one[1] || one[0] - other[0])
      .slice(0, this.most);
  }
}
